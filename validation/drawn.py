"""Scenarios drawn at random by a committed seed, each put to the command once: what goodputs.py and traces.py have in common.

Not for: what is drawn, what is asked of it, and how the answers are judged.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from live import Kept, Truckee, Unusable

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Question:
    """A scenario's text, and the words around its file on the command line."""

    name: str
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()


def counted(word: str) -> int:
    """A number from 1 on, as argparse asks for it."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {word!r}")
    return int(word)


def options(about: str, out: str, seed: int, count: int) -> argparse.ArgumentParser:
    """What both take; their results go to out/`out`."""
    parser = argparse.ArgumentParser(description=about.split("\n", 1)[0])
    parser.add_argument("--truckee", type=Path, default=ROOT / "target" / "release" / "truckee", help="the program")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / out, help="where what is finished is kept")
    parser.add_argument("--seed", type=int, default=seed, help=f"what they are drawn by ({seed})")
    parser.add_argument("--count", type=counted, default=count, help=f"how many ({count})")
    parser.add_argument("--show", type=counted, metavar="NUMBER", help="print one and run nothing")
    return parser


def answers(
    arguments: argparse.Namespace, sort: str, questions: Mapping[int, Question], at_once: int = 1
) -> dict[int, Any] | None:
    """What the command says to each, by number; what is finished is kept, and not asked again. A question that it has no
    answer to is told and left out. None: nothing is to be judged, and why has been said."""
    truckee = arguments.truckee.resolve()
    if subprocess.run([truckee, "doctor"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        print("live runs are not possible here; truckee doctor says why", file=sys.stderr)
        return None
    kept = Kept.of(arguments.out.resolve(), truckee, quick=False)
    folder = kept.folder / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)

    def answer(question: Question) -> Any | None:
        if (finished := kept.find(sort, question.name)) is not None:
            return finished
        path = folder / f"{question.name}.toml"
        path.write_text(question.text)
        try:
            given = Truckee(truckee).ask(*question.before, str(path), *question.after)
        except Unusable as error:
            print(f"{question.name}: {error}", file=sys.stderr)
            return None
        kept.keep(sort, question.name, given)
        return given

    with ThreadPoolExecutor(at_once) as pool:
        asked = {number: pool.submit(answer, question) for number, question in questions.items()}
        try:
            given = {number: one.result() for number, one in asked.items()}
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print(f"stopped; what is finished is kept in {kept.folder}", file=sys.stderr)
            return None
    return {number: one for number, one in given.items() if one is not None}
