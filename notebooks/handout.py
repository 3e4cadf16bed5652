#!/usr/bin/env python3
"""Copies of the course's notebooks for those who are to solve the exercises: without the solutions.

  notebooks/handout.py FOLDER

Cells tagged `solution` are left out; all else is as it is.
"""

import argparse
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent


def handed_out(text: str) -> str:
    """A notebook without its solutions."""
    notebook = json.loads(text)
    notebook["cells"] = [cell for cell in notebook["cells"] if "solution" not in cell["metadata"].get("tags", [])]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the copies go; it is made if it is not there")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(HERE.glob("*.ipynb")):
        (folder / file.name).write_text(handed_out(file.read_text(encoding="utf-8")), encoding="utf-8")
        print(folder / file.name)


if __name__ == "__main__":
    main()
