"""Tests of the search for circles among files; and the tree itself, which has none."""

import tempfile
import unittest
from pathlib import Path

import circles

ROOT = Path(__file__).parent.parent


def written(crate: Path, files: dict[str, str]) -> Path:
    """A crate's folder with these files of source."""
    for name, text in files.items():
        file = crate / "src" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return crate


class Circles(unittest.TestCase):
    def found(self, files: dict[str, str]) -> list[list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            return circles.circles(written(Path(folder), files))

    def test_files_that_use_one_another_are_a_circle_by_whatever_way_they_name_it(self) -> None:
        ways = [
            "use crate::b::B;",
            "use super::b::{self, B};",
            "fn f() { crate::b::g() }",
            "use super::b as other; fn f() { other::g() }",
        ]
        for way in ways:
            files = {
                "lib.rs": "mod a;\nmod b;\n",
                "a.rs": way + " pub struct A;",
                "b.rs": "use crate::a::A; pub struct B; pub fn g() {}",
            }
            files["a.rs"] += "" if "g()" in way else " struct C(B);"
            self.assertEqual(self.found(files), [["a.rs", "b.rs"]], way)

    def test_a_longer_way_round_is_one_too(self) -> None:
        files = {
            "lib.rs": "mod a;\nmod b;\nmod c;\n",
            "a.rs": "use crate::b::B; pub struct A(B);",
            "b.rs": "use crate::c::C; pub struct B(C);",
            "c.rs": "use crate::a::A; pub struct C(Box<A>);",
        }
        self.assertEqual(self.found(files), [["a.rs", "b.rs", "c.rs"]])
        self.assertEqual(self.found(files | {"c.rs": "pub struct C;"}), [])

    def test_a_name_that_is_handed_on_is_needed_of_where_it_is_defined(self) -> None:
        files = {
            "lib.rs": "mod a;\npub use a::{Inner, Outer as Other};\n",
            "a.rs": "mod inner;\nmod outer;\npub use inner::Inner;\npub use outer::Outer;\n",
            "a/inner.rs": "pub struct Inner;",
            "a/outer.rs": "use crate::Inner; use super::Inner as Same; pub struct Outer(Inner, Same);",
        }
        self.assertEqual(self.found(files), [])
        self.assertEqual(
            self.found(files | {"a/inner.rs": "use crate::Other; pub struct Inner(Box<Other>);"}),
            [["a/inner.rs", "a/outer.rs"]],
        )

    def test_a_file_and_one_below_it_are_a_circle_where_each_has_what_the_other_needs(self) -> None:
        files = {
            "main.rs": "mod a;\n",
            "a/mod.rs": "mod b;\nuse b::B;\npub struct A(B);\n",
            "a/b.rs": "use super::A;\npub struct B(Box<A>);\n",
        }
        self.assertEqual(self.found(files), [["a/b.rs", "a/mod.rs"]])
        self.assertEqual(self.found(files | {"a/b.rs": "pub struct B;"}), [])

    def test_tests_comments_texts_and_other_crates_are_none(self) -> None:
        files = {
            "lib.rs": "mod a;\nmod b;\n#[cfg(test)]\nmod tried;\n",
            "a.rs": 'use serde::b::B; // use crate::b::B;\n/* crate::b::B */ pub const A: &str = "crate::b::B"; pub struct A;\n'
            "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n",
            "b.rs": "use crate::a::A; pub struct B(A);",
            "tried.rs": "use crate::a::A; use crate::b::B;",
        }
        self.assertEqual(self.found(files), [])

    def test_a_circle_is_told_with_its_crate(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            crates = Path(folder)
            code = {
                "lib.rs": "mod a;\nmod b;\n",
                "a.rs": "use crate::b::B; pub struct A(B);",
                "b.rs": "use crate::a::A; pub struct B(A);",
            }
            written(crates / "one", code)
            self.assertEqual(list(circles.all_circles(crates)), [("one", ["a.rs", "b.rs"])])

    def test_the_tree_has_no_circle(self) -> None:
        self.assertEqual(list(circles.all_circles(ROOT / "crates")), [], "docs/circles.py CRATE says what makes it one")


if __name__ == "__main__":
    unittest.main()
