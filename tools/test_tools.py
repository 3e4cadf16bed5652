"""Tests of what `make test` calls: .venv/bin/pytest tools."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import fast
import gate
import nightly
import vendored
from digests import differing

REPORT = """<testsuites><testsuite name="truckee-net">
  <testcase name="holds" classname="truckee-net"/>
  <testcase name="breaks" classname="truckee-net"><failure type="test failure"/></testcase>
  <testcase name="waits" classname="truckee-net"><skipped message="no root"/></testcase>
</testsuite></testsuites>"""


class Nightly(unittest.TestCase):
    def test_every_simulated_study_runs_in_full_and_goes_on_at_the_same_commit_alone(self) -> None:
        part = next(part for part in nightly.parts(1) if part.name == "studies")
        assert part.command is not None
        kept = Path(part.command.environment["TRUCKEE_STUDIES_DIR"])
        self.assertEqual((part.command.environment["TRUCKEE_STUDIES"], kept.name), ("full", nightly.commit()))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("old", "now"):
                (Path(folder) / name / "study").mkdir(parents=True)
            nightly.forget_others(Path(folder) / "now")
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["now"])


class Gate(unittest.TestCase):
    def test_a_report_is_counted_with_the_names_of_what_failed_and_was_skipped(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "junit.xml"
            path.write_text(REPORT)
            tally = gate.read_report(path)
        self.assertEqual((tally.passed, tally.failed), (1, ["truckee-net breaks"]))
        self.assertEqual(tally.skipped, ["truckee-net waits: no root"])

    def test_a_command_without_report_counts_as_one_and_one_that_fails_is_named(self) -> None:
        gate.LOGS.mkdir(parents=True, exist_ok=True)
        self.assertEqual(
            gate.step("test", [gate.Command(["true"]), gate.Command(["true"])]).line(), "1 passed, 0 failed"
        )
        tally = gate.step("test", [gate.Command(["true"]), gate.Command(["false"])])
        self.assertEqual((tally.passed, tally.failed), (0, ["false: exit status 1"]))

    def test_the_closing_lines_have_what_a_failure_said_last(self) -> None:
        gate.LOGS.mkdir(parents=True, exist_ok=True)
        tally = gate.step("test", [gate.Command(["sh", "-c", f"seq {2 * gate.SAID}; exit 3"])])
        said, _ = gate.summary({"test": (tally, 1.0)}, ci=False)
        lines = [line.strip() for line in said.splitlines()]
        numbers = [int(line) for line in lines if line.isdecimal()]
        self.assertEqual(numbers, list(range(gate.SAID + 1, 2 * gate.SAID + 1)))
        self.assertEqual(lines[-1], "0 passed, 1 failed")

    def test_a_runner_that_dies_before_its_report_has_failed(self) -> None:
        gate.LOGS.mkdir(parents=True, exist_ok=True)
        command = gate.Command(["sh", "-c", "exit 101"], junit=gate.LOGS / "never.xml")
        self.assertEqual(len(gate.step("test", [command]).failed), 1)

    def test_a_report_of_an_earlier_run_is_not_read(self) -> None:
        gate.LOGS.mkdir(parents=True, exist_ok=True)
        old = gate.LOGS / "old.xml"
        old.write_text(REPORT)
        tally = gate.step("test", [gate.Command(["true"], junit=old)])
        self.assertEqual((tally.passed, tally.failed, old.exists()), (1, [], False))

    def test_what_says_that_it_cannot_run_is_skipped_and_not_passed(self) -> None:
        gate.LOGS.mkdir(parents=True, exist_ok=True)
        report = gate.LOGS / "skips.xml"
        script = f'cp "$0" {report}; echo "truckee-net holds: no root" >> "$TRUCKEE_SKIPPED"'
        with tempfile.NamedTemporaryFile("w") as source:
            source.write(REPORT)
            source.flush()
            tally = gate.step("test", [gate.Command(["sh", "-c", script, source.name], junit=report)])
        self.assertEqual((tally.passed, len(tally.skipped)), (0, 2))

    def test_too_little_room_is_told_before_the_first_step(self) -> None:
        self.assertIsNone(gate.lack_of_room(gate.ROOM, built=False, ci=False))
        self.assertIsNone(gate.lack_of_room(gate.ROOM_IN_CI, built=False, ci=True))
        self.assertIsNone(gate.lack_of_room(gate.ROOM_AGAIN, built=True, ci=False))
        said = str(gate.lack_of_room(15 << 29, built=False, ci=False))
        self.assertIn(f"7.5 GiB are free where {gate.TARGET} is, and the checks take 16", said)
        self.assertIn("the checks take 10", str(gate.lack_of_room(15 << 29, built=False, ci=True)))
        self.assertIn("the checks take 3", str(gate.lack_of_room(1 << 30, built=True, ci=True)))

    def test_a_skip_is_a_failure_in_ci_only(self) -> None:
        results = {"live": (gate.Tally(3, [], ["a: no root"]), 1.0)}
        said, well = gate.summary(results, ci=False)
        self.assertTrue(well)
        self.assertTrue(said.endswith("3 passed, 0 failed, 1 skipped"), said)
        self.assertIn("skipped in live: a: no root", said)
        self.assertFalse(gate.summary(results, ci=True)[1])
        self.assertFalse(gate.summary({"live": (gate.Tally(3, ["b"]), 1.0)}, ci=False)[1])


class Digests(unittest.TestCase):
    def test_another_digest_and_a_missing_one_are_told(self) -> None:
        self.assertEqual(differing({"a": "1", "b": "2"}, {"a": "1", "b": "2"}), [])
        self.assertEqual(differing({"a": "1", "b": "2"}, {"a": "3"}), ["a: 1 and 3", "b: 2 and none"])


class Vendored(unittest.TestCase):
    def test_what_is_kept_of_others_is_what_was_taken_over(self) -> None:
        allow = {"MIT", "Apache-2.0"}
        for library, kept in vendored.libraries():
            self.assertEqual(vendored.problems(library, kept, allow), [])
            self.assertEqual(vendored.problems(library, kept, set()), ["is licensed MIT"])
            with tempfile.TemporaryDirectory() as folder:
                names = list(library["sha256"])
                self.assertEqual(vendored.problems(library, Path(folder), allow), [f"lacks {name}" for name in names])
                for name in names:
                    (Path(folder) / name).parent.mkdir(exist_ok=True)
                    (Path(folder) / name).write_text("something else")
                changed = [f"has another {name} than was taken over" for name in names]
                self.assertEqual(vendored.problems(library, Path(folder), allow), changed)


if __name__ == "__main__":
    unittest.main()


class Fast(unittest.TestCase):
    def test_two_builds_have_the_same_names_of_functions_and_only_the_program_is_linked_otherwise(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            one, other = (fast.wrapped(Path(folder), code, "-Clink-arg=-no-pie") for code in ("-Ca=1", "-Ca=2"))
            self.assertNotEqual(one, other, "cargo knows them apart by their paths")

            def compiled(wrapper: Path, kind: str) -> list[str]:
                words = ["--crate-name", "truckee", "--crate-type", kind, "-C", "metadata=5f", "--cfg", 'feature="a b"']
                done = subprocess.run(
                    [wrapper, "printf", "%s\\n", *words], check=True, stdout=subprocess.PIPE, text=True
                )
                return done.stdout.splitlines()

            library = compiled(one, "lib")
            self.assertEqual(library[-3:], ["--cfg", 'feature="a b"', "-Ca=1"])
            self.assertIn("metadata=fast", library)
            self.assertEqual(compiled(other, "lib")[:-1], library[:-1])
            self.assertEqual(compiled(one, "bin")[-2:], ["-Ca=1", "-Clink-arg=-no-pie"])
