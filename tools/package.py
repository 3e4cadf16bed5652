#!/usr/bin/env python3
"""Builds the Python package and installs it as its users do: the step `python` of tools/gate.py, before its tests.

  tools/package.py             check that the stubs are what the tool makes of the module
  tools/package.py --stubs     write them anew

Beside the build there are two environments: `python/venv`, with all that tests want, and `python/clean`, made anew each time,
with nothing but the wheel and what that asks for, in which it is tried. The module is built without optimisation, as what
the other tests run is, so that most of it is there already.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MADE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "python"
VENV, CLEAN, WHEELS, STUBS = MADE / "venv", MADE / "clean", MADE / "wheels", MADE / "stubs"
REQUIREMENTS = ROOT / "python/requirements.txt"
STUB = Path("truckee/_native.pyi")
# The smallest thing that the package is for.
TRIED = """
import truckee
run = truckee.run("examples/lossless.toml", set={"duration": "5s"})
assert run.digest and run.flows["goodput_bps"][0] > 1e6, run
print(run)
"""


def call(*words: str | Path) -> None:
    """Runs a program, and ends where it fails."""
    subprocess.run(words, cwd=ROOT, check=True, stdin=subprocess.DEVNULL)


def pip(environment: Path, *words: str | Path) -> None:
    """Installs something there."""
    quiet = ["--quiet", "--disable-pip-version-check"]
    call(environment / "bin/python", "-m", "pip", "install", *quiet, *words)


def environment() -> None:
    """The environment with all that tests want, anew where the requirements have changed."""
    stamp = VENV / "installed"
    wanted = REQUIREMENTS.read_text()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    venv.create(VENV, clear=True, with_pip=True)
    pip(VENV, "-r", REQUIREMENTS)
    stamp.write_text(wanted)


def maturin(what: str, out: Path) -> None:
    """Has maturin make something of the module, into a folder that is empty before."""
    shutil.rmtree(out, ignore_errors=True)
    call(VENV / "bin/maturin", what, "--quiet", "--profile", "dev", "-i", VENV / "bin/python", "--out", out)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stubs", action="store_true", help="write the stubs anew")
    arguments = parser.parse_args()
    MADE.mkdir(parents=True, exist_ok=True)
    try:
        environment()
        maturin("generate-stubs", STUBS)
        kept = ROOT / "python" / STUB
        if arguments.stubs:
            shutil.copyfile(STUBS / STUB, kept)
        elif not filecmp.cmp(STUBS / STUB, kept, shallow=False):
            print(f"{kept} is not what the module is: tools/package.py --stubs", file=sys.stderr)
            return 1
        maturin("build", WHEELS)
        (wheel,) = WHEELS.glob("truckee-*-abi3-*.whl")
        pip(VENV, "--force-reinstall", "--no-deps", wheel)
        venv.create(CLEAN, clear=True, with_pip=True)
        pip(CLEAN, "--constraint", REQUIREMENTS, wheel)
        call(CLEAN / "bin/truckee", "--version")
        call(CLEAN / "bin/python", "-c", TRIED)
    except subprocess.CalledProcessError as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
