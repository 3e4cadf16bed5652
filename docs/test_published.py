"""Published results by paper: every study of the tree is named, none that is not there, and every figure and table is spoken of."""

import re
import unittest
from pathlib import Path

BOOK = Path(__file__).parent
PAGE = (BOOK / "published.md").read_text()
STUDIES = {path.stem for path in (BOOK.parent / "studies").glob("*/*.toml")}

# What each paper numbers: figures and tables, by chapter; an appendix' is named by its section.
FIGURES = {
    "TCP Taba": {"1": 1, "2": 4, "3": 7},
    "Accumulated ACKs": {"": 7},
    "Bandwidth estimation and loss differentiation": {"2": 2, "3": 18, "4": 6, "5": 12, "6": 17, "7": 15},
    "Split ACKs": {"2": 8, "3": 3, "4": 17},
    "Window and slow start over wireless channels": {"1": 2, "2": 5, "3": 8},
}
TABLES = {
    "TCP Taba": {"1": 1, "3": 4},
    "Bandwidth estimation and loss differentiation": {"6": 1},
    "Split ACKs": {"2": 2, "3": 1, "4": 12},
}
NUMBER = r"(?:\d+[.-])?\d+"


def sections(page: str) -> dict[str, str]:
    """The page's text by its headings."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named(text: str, kind: str) -> set[str]:
    """The numbers that follow the word, `figure 3.1` or `figures 3.1, 3.5 to 3.7 and 3.9`, with those between."""
    found = set()
    for many in re.findall(rf"\b{kind}s? ({NUMBER}(?:(?: \([ab]\))?(?:, | and | to ){NUMBER})*)", text, re.IGNORECASE):
        for first, last in re.findall(rf"({NUMBER})(?: to ({NUMBER}))?", many):
            chapter, at = re.fullmatch(r"(\d+[.-])?(\d+)", first).groups(default="")  # type: ignore[union-attr]
            until = re.fullmatch(r"(\d+[.-])?(\d+)", last or first).group(2)  # type: ignore[union-attr]
            found |= {f"{chapter}{k}".replace("-", ".") for k in range(int(at), int(until) + 1)}
    return found


def numbers(chapters: dict[str, int]) -> set[str]:
    return {f"{chapter}.{k}".lstrip(".") for chapter, last in chapters.items() for k in range(1, last + 1)}


def rows(text: str) -> list[list[str]]:
    """The rows of a section's table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


class Published(unittest.TestCase):
    def test_every_study_is_named_and_every_one_named_is_there(self) -> None:
        linked = set(re.findall(r"\]\(studies/([a-z0-9-]+)\.md\)", PAGE))
        self.assertEqual(linked - STUDIES - {"index"}, set(), "no study of the tree")
        self.assertEqual(STUDIES - linked, set(), "named with no paper")

    def test_a_name_is_that_of_the_page_it_leads_to(self) -> None:
        for name, to in re.findall(r"\[`([^`]+)`\]\(studies/([^)]+)\.md\)", PAGE):
            self.assertEqual(name, to)

    def test_every_figure_and_table_of_a_paper_is_spoken_of(self) -> None:
        parts = sections(PAGE)
        for kind, published in (("figure", FIGURES), ("table", TABLES)):
            for paper, chapters in published.items():
                have, want = named(parts[paper], kind), numbers(chapters)
                self.assertEqual(want - have, set(), f"{paper}: {kind}s that the page does not speak of")
                self.assertEqual(have - want, set(), f"{paper}: {kind}s that there are none of")

    def test_every_row_has_a_study_or_says_that_it_has_none(self) -> None:
        for paper, text in sections(PAGE).items():
            for result, study, beside in rows(text):
                self.assertTrue("](studies/" in study or study == "**none**", f"{paper}: {result}: {study}")
                self.assertTrue(study != "**none**" or beside, f"{paper}: {result}: what there is in its place")

    def test_numbers_are_read_with_those_between(self) -> None:
        self.assertEqual(named("figures 3.1, 3.5 to 3.7 and 3.9 of", "figure"), {"3.1", "3.5", "3.6", "3.7", "3.9"})
        self.assertEqual(named("Figure 2-4, table 3.1", "figure"), {"2.4"})
        self.assertEqual(named("figure 7: it; tables 4.1 and 4.2", "table"), {"4.1", "4.2"})


if __name__ == "__main__":
    unittest.main()
