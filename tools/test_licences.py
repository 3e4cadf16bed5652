"""Tests of the licence check: python3 -m unittest discover -s tools."""

import tempfile
import tomllib
import unittest
from pathlib import Path

from licences import CRATES_IO, VENDORED, allowed, problems, vendored_problems

ALLOW = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"}


class Licences(unittest.TestCase):
    def test_an_expression_is_allowed_if_it_can_be_satisfied(self) -> None:
        for good in ("MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR GPL-2.0) AND Apache-2.0"):
            self.assertTrue(allowed(good, ALLOW), good)
        self.assertTrue(allowed("Apache-2.0 WITH LLVM-exception OR GPL-2.0", ALLOW))
        for bad in ("GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-2.0) AND LGPL-3.0", "GPL-2.0 WITH exception"):
            self.assertFalse(allowed(bad, ALLOW), bad)

    def test_what_cannot_be_read_is_not_allowed(self) -> None:
        with self.assertRaises(ValueError):
            allowed("MIT )", ALLOW)

    def test_bans_sources_and_missing_licences_are_problems(self) -> None:
        good = {"name": "a", "source": CRATES_IO, "license": "MIT"}
        self.assertEqual(problems(good, ALLOW, set()), [])
        self.assertEqual(problems(good, ALLOW, {"a"}), ["is banned"])
        self.assertEqual(problems({**good, "license": None}, ALLOW, set()), ["names no licence"])
        self.assertEqual(len(problems({**good, "source": "git+https://x"}, ALLOW, set())), 1)

    def test_what_is_kept_of_others_is_what_was_taken_over(self) -> None:
        for library in tomllib.loads(VENDORED.read_text())["library"]:
            self.assertEqual(vendored_problems(library, VENDORED.parent, ALLOW), [])
            self.assertEqual(vendored_problems(library, VENDORED.parent, set()), ["is licensed MIT"])
            with tempfile.TemporaryDirectory() as folder:
                names = list(library["sha256"])
                self.assertEqual(vendored_problems(library, Path(folder), ALLOW), [f"lacks {name}" for name in names])
                for name in names:
                    (Path(folder) / name).parent.mkdir(exist_ok=True)
                    (Path(folder) / name).write_text("something else")
                changed = [f"has another {name} than was taken over" for name in names]
                self.assertEqual(vendored_problems(library, Path(folder), ALLOW), changed)


if __name__ == "__main__":
    unittest.main()
