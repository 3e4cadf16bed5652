"""Tests of the licence check: python3 -m unittest discover -s tools."""

import unittest

from licences import CRATES_IO, allowed, problems

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


if __name__ == "__main__":
    unittest.main()
