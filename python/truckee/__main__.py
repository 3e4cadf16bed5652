"""The command `truckee`: the same as the program."""

from __future__ import annotations

import sys

from truckee._native import command


def main() -> int:
    """Does what the words behind the command ask for."""
    return command(["truckee", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
