"""Tests of what makes the laboratory a part of the book."""

import json
import unittest

from figures import DOCS, ROOT, figures
from laboratory import Laboratory, filled

KNOWN = {"examples": [{"name": "lp-goodput.toml"}], "lessons": [{"id": "slow-start"}]}
LAB = Laboratory(f'<script type="application/json" id="known">{json.dumps(KNOWN)}</script>', {"newreno": "lab=1.0.x"})
PICTURE = '<p><img alt="A > b" src="../../figures/{}.svg" /></p>'


class Links(unittest.TestCase):
    def test_a_figure_leads_to_its_scenario(self) -> None:
        for name, link in {"newreno": "lab=1.0.x", "studies/lp-goodput-accuracy": "open=lp-goodput.toml"}.items():
            picture = PICTURE.format(name)
            made = filled(picture, LAB, "../../lab.html")
            self.assertTrue(made.startswith(picture))
            self.assertIn(f'<a href="../../lab.html#{link}"', made)
            self.assertIn(">change it<", made)

    def test_what_is_not_simulated_leads_nowhere(self) -> None:
        for name in ("architecture", "studies/lp-testbed", "studies/lp"):
            picture = PICTURE.format(name)
            self.assertEqual(filled(picture, LAB, "lab.html"), picture)

    def test_a_page_names_it(self) -> None:
        page = 'see <a href="lab:lesson=slow-start">the <em>first</em></a>, <a href="lab:">all</a>'
        expected = (
            'see <a href="../lab.html#lesson=slow-start" target="_blank">the <em>first</em></a>, '
            '<a href="../lab.html" target="_blank">all</a>'
        )
        self.assertEqual(filled(page, LAB, "../lab.html"), expected)

    def test_a_link_to_nothing_is_told(self) -> None:
        with self.assertLogs("mkdocs.hooks.laboratory", "WARNING"):
            filled('<a href="lab:lesson=none">x</a>', LAB, "lab.html")

    def test_without_it_the_book_has_words_in_place_of_links(self) -> None:
        page = PICTURE.format("newreno") + '<a href="lab:lesson=slow-start">the first</a>'
        self.assertEqual(filled(page, None, "lab.html"), PICTURE.format("newreno") + "the first")


class Figures(unittest.TestCase):
    def test_each_is_in_the_book_and_has_its_scenario(self) -> None:
        self.assertGreater(len(figures()), 60)
        for name, figure in figures().items():
            self.assertTrue((DOCS / "figures" / f"{name}.svg").is_file(), name)
            self.assertTrue((ROOT / figure.scenario).is_file(), figure.scenario)


if __name__ == "__main__":
    unittest.main()
