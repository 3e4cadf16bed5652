#!/usr/bin/env python3
"""Builds the Python package and installs it as its users do: the step `python` of tools/gate.py, before its tests.

  tools/package.py             check that the stubs are what the tool makes of the module
  tools/package.py --stubs     write them anew
  tools/package.py --release   what a release has: the source distribution of a clean checkout of HEAD, built and installed
                               by pip with optimisation into an environment of its own, `python/release`, and tried there

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
RELEASE, CHECKOUT, SOURCES = MADE / "release", MADE / "checkout", MADE / "sources"
REQUIREMENTS = ROOT / "python/requirements.txt"
STUB = Path("truckee/_native.pyi")
# The smallest thing that the package is for.
TRIED = """
import truckee
run = truckee.run("examples/lossless.toml", set={"duration": "5s"})
assert run.digest and run.flows["goodput_bps"][0] > 1e6, run
print(run)
"""


# What such an environment says of the package.
SAID = """
from importlib.metadata import files, metadata
said = metadata("truckee")
assert said["License-Expression"] == "MIT OR Apache-2.0" and said["Requires-Python"] == ">=3.10", said
assert {"arrow", "dask"} <= set(said.get_all("Provides-Extra")), said
names = {file.name for file in files("truckee")}
assert {"LICENSE-MIT", "LICENSE-APACHE", "py.typed", "_native.pyi"} <= names, names
"""


def call(*words: str | Path, folder: Path = ROOT) -> None:
    """Runs a program, and ends where it fails."""
    subprocess.run(words, cwd=folder, check=True, stdin=subprocess.DEVNULL)


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


def tried(environment: Path) -> None:
    """Tries the package as it is installed there."""
    call(environment / "bin/truckee", "--version")
    call(environment / "bin/python", "-c", TRIED)
    call(environment / "bin/python", "-c", SAID)


def released() -> None:
    """The package as a release has it. Whether a wheel is built of the sources alone shows where nothing else is."""
    for folder in (CHECKOUT, SOURCES):
        shutil.rmtree(folder, ignore_errors=True)
    CHECKOUT.mkdir()
    call("git", "archive", "--output", CHECKOUT / "head.tar", "HEAD")
    call("tar", "-xf", "head.tar", folder=CHECKOUT)
    call(VENV / "bin/maturin", "sdist", "--out", SOURCES, folder=CHECKOUT)
    shutil.rmtree(CHECKOUT)
    (sources,) = SOURCES.glob("truckee-*.tar.gz")
    # What others depend on has been built before, there.
    os.environ["CARGO_TARGET_DIR"] = str(MADE.parent)
    venv.create(RELEASE, clear=True, with_pip=True)
    # The last two are what python/tests/speed.py shares with the tests.
    pip(RELEASE, "--constraint", REQUIREMENTS, f"truckee[arrow,dask] @ {sources.as_uri()}", "pytest", "hypothesis")
    tried(RELEASE)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stubs", action="store_true", help="write the stubs anew")
    parser.add_argument("--release", action="store_true", help="what a release has, and nothing else")
    arguments = parser.parse_args()
    MADE.mkdir(parents=True, exist_ok=True)
    try:
        environment()
        if arguments.release:
            released()
            return 0
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
        tried(CLEAN)
    except subprocess.CalledProcessError as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
