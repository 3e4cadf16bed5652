"""Programs of the peers: run, and what they said.

Not for: what they are told, or what it means.
"""

import subprocess


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
