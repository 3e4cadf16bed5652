"""Programs of the peers: compiled where that is due, run, and what they said.

Not for: what they are told, or what it means.
"""

import subprocess
from pathlib import Path


class CommandError(Exception):
    """A program that gave no answer; says which, and what it said."""


def said(command: list[str], limit: float) -> str:
    """What a program prints within `limit` seconds. Raises CommandError."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{' '.join(command)}: no end within {limit:g} s") from error
    if done.returncode != 0:
        raise CommandError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def build_ns3(source: Path, program: Path, modules: list[str]) -> None:
    """Compiles a program against modules of ns-3, unless it is newer than its source."""
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    libraries = [f"-lns3-{name}" for name in modules]
    subprocess.run(["g++", "-O2", "-std=c++17", str(source), "-o", str(program), *libraries], check=True)
