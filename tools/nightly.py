#!/usr/bin/env python3
"""What is too long for every change, by hand before each release: ten times as many random networks and property cases as
`make test` has, drawn anew, many killed runs, every simulated study in full, and the tests on recorded traces and captures.
Writes its date and commit into the book. Not for: what is live and judged by statistics (`make live`), and the studies'
stored results and pages (`make studies`), which have dates of their own.

  make nightly
  tools/nightly.py --seed 42     the draws of an earlier one again
  tools/nightly.py --only networks,properties
  tools/nightly.py --only studies   up to an hour; one that was stopped goes on where it was, at the same commit

Exit code: 0 all passed, 1 something failed (the page then says so), 2 bad usage.
"""

import argparse
import datetime
import os
import platform
import random
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import gate

PAGE = gate.ROOT / "docs/nightly.md"
# Recorded traces and captures, which may not be handed on and are nowhere in this repository.
DATA = Path(os.environ.get("TRUCKEE_DATA", gate.ROOT / "../shared/data"))
NETWORKS = 10_000
CASES = 30_000
KILLS = 100


@dataclass(frozen=True)
class Part:
    """What is run: a name, what it is in words, and the command."""

    name: str
    what: str
    # None: it cannot be run here.
    command: gate.Command | None


def commit() -> str:
    """What this tree is."""
    words = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(words, cwd=gate.ROOT, check=True, capture_output=True, text=True).stdout.strip()


def kept_studies() -> Path:
    """Where the studies' runs of this commit are kept, so that one that was stopped goes on."""
    return gate.TARGET / "nightly-studies" / commit()


def forget_others(folder: Path) -> None:
    """Removes what was kept of other commits beside a folder."""
    for other in folder.parent.glob("*"):
        if other != folder:
            shutil.rmtree(other)


def parts(seed: int) -> list[Part]:
    """All of it; what is drawn goes by `seed`."""

    def nextest(*words: str, profile: str = "gate", **environment: str) -> gate.Command:
        run = ("nextest", "run", "--locked", "--profile", profile, *words)
        return gate.cargo(*run, junit=profile, **environment)

    networks = {"TRUCKEE_NETWORKS": str(NETWORKS), "TRUCKEE_FIRST": str(seed)}
    drawn = {"PROPTEST_RNG_SEED": str(seed), "BOLERO_RANDOM_SEED": str(seed), "PROPTEST_CASES": str(CASES)}
    return [
        Part(
            "networks",
            f"{NETWORKS} random networks, from seed {seed} on",
            nextest("-p", "truckee-net", "-E", "binary(random_networks)", **networks),
        ),
        Part(
            "properties",
            f"property tests, {CASES} cases each where a test does not say",
            nextest("--workspace", **drawn),
        ),
        Part(
            "kills",
            f"{KILLS} live runs killed at drawn moments, and what they left removed",
            nextest("-p", "truckee-cli", "-E", "test(killed)", profile="live", TRUCKEE_KILLS=str(KILLS)),
        ),
        Part("digests", "examples in the released build", gate.digests()[0]),
        Part(
            "studies",
            "every simulated study in full, with the checks that the quick form leaves out",
            nextest(
                *("--release", "-p", "truckee-look", "-E", "binary(studies)"),
                profile="nightly",
                TRUCKEE_STUDIES="full",
                TRUCKEE_STUDIES_DIR=str(kept_studies()),
                TRUCKEE_DATA=str(DATA.resolve()),
            ),
        ),
        Part(
            "recorded",
            "recorded traces and other people's captures, where TRUCKEE_DATA names them",
            nextest("--run-ignored", "only", "-E", "binary(traces) | binary(captures)") if DATA.is_dir() else None,
        ),
    ]


def page(seed: int, rows: list[tuple[Part, gate.Tally, float]]) -> str:
    """The book's page."""
    lines = [
        "# The last long run",
        "",
        "`make nightly` is run by hand before each release: what `make test` has too little time for. This page is what it wrote.",
        "",
        f"{datetime.date.today().isoformat()}, commit `{commit()}`, Linux {platform.release()}, seed {seed}.",
        "",
        "| part | what | passed | failed | skipped | minutes |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for part, tally, seconds in rows:
        counts = f"{tally.passed} | {len(tally.failed)} | {len(tally.skipped)}"
        lines.append(f"| {part.name} | {part.what} | {counts} | {seconds / 60:.1f} |")
    failed = [f"- {part.name}: `{name}`" for part, tally, _ in rows for name in tally.failed]
    skipped = [f"- skipped: {part.name}: {name}" for part, tally, _ in rows for name in tally.skipped]
    return "\n".join(lines + ([""] + failed + skipped if failed or skipped else [])) + "\n"


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="of all that is drawn [default: drawn]")
    parser.add_argument("--only", metavar="PART,…", help="these parts; the page is then left alone")
    arguments = parser.parse_args()
    seed: int = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 31)
    if seed < 0:
        parser.error(f"--seed {seed}: at least 0")
    chosen = parts(seed)
    if arguments.only:
        names = arguments.only.split(",")
        if unknown := set(names) - {part.name for part in chosen}:
            parser.error(f"there is no part {', '.join(sorted(unknown))}, only {', '.join(p.name for p in chosen)}")
        chosen = [part for part in chosen if part.name in names]
    gate.LOGS.mkdir(parents=True, exist_ok=True)
    print(f"==> nightly: seed {seed}", flush=True)
    rows = []
    for part in chosen:
        began = time.monotonic()
        if part.name == "studies":
            forget_others(kept_studies())
        tally = gate.Tally(skipped=["TRUCKEE_DATA names no folder"])
        if part.command is not None:
            tally = gate.step(f"nightly-{part.name}", [part.command])
        rows.append((part, tally, time.monotonic() - began))
        print(f"==> {part.name}: {tally.line()}, {rows[-1][2]:.0f} s", flush=True)
    total = gate.Tally()
    for _, tally, _ in rows:
        total.add(tally)
    if not arguments.only:
        PAGE.write_text(page(seed, rows))
        print(f"==> wrote {PAGE.relative_to(gate.ROOT)}")
    for failure in total.failed:
        print(f"failed: {failure}")
    print(total.line())
    return 1 if total.failed or (os.environ.get("CI") and total.skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
