#!/usr/bin/env python3
"""Builds truckee for speed: compiled by a profile of what it does with scenarios, and linked to fixed addresses.

  tools/fast.py target

leaves target/fast/truckee. The profile is of some studies' quick forms and of the determinism tests' scenarios, which have
every part of the simulator in them, and not of the workloads that the benchmark measures. Dependencies are those of the
release build. What is unchanged since the last time is not done again. What it gains: bench/README.md.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = sorted((ROOT / "crates/net/tests/determinism").glob("*.toml"))
STUDIES = (
    "accum-loss",
    "ack-policies",
    "bw-goodput",
    "lp-adhoc",
    "lp-comparison",
    "lp-goodput",
    "lp-highspeed",
    "stacks-today",
    "today-links",
    "wireless-download",
)
# Cargo gives a workspace wrapper the compiler's path and its arguments. The wrapper's own path tells one build from another;
# it is in the crates' metadata too, and so in the names of functions, by which a profile knows them: there it is taken out.
WRAPPER = """#!/bin/sh
compiler=$1
shift
for word; do
    shift
    case $word in
    metadata=*) set -- "$@" metadata=fast ;;
    *) set -- "$@" "$word" ;;
    esac
done
case " $* " in
*" --crate-name truckee "*"--crate-type bin "*) exec "$compiler" "$@" {code} {link} ;;
*) exec "$compiler" "$@" {code} ;;
esac
"""


def said(words: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def profiler() -> Path:
    """LLVM's tool that merges profiles, of the version that the compiler has in it."""
    host = next(line for line in said(["rustc", "-vV"]).splitlines() if line.startswith("host: ")).removeprefix(
        "host: "
    )
    tool = Path(said(["rustc", "--print", "sysroot"])) / "lib/rustlib" / host / "bin/llvm-profdata"
    if not tool.exists():
        print("==> installing llvm-tools, which merge profiles", flush=True)
        if not shutil.which("rustup"):
            raise SystemExit(f"error: {tool} is not there, and no rustup to install it with (component llvm-tools)")
        subprocess.run(["rustup", "component", "add", "llvm-tools"], check=True, cwd=ROOT)
    return tool


def wrapped(folder: Path, code: str, link: str) -> Path:
    """What has the workspace's crates compiled so, and its program linked so."""
    text = WRAPPER.format(code=code, link=link)
    wrapper = folder / hashlib.sha256(text.encode()).hexdigest()[:16] / "rustc"
    if not wrapper.exists():
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        wrapper.write_text(text)
        wrapper.chmod(0o755)
    return wrapper


def build(target: Path, code: str, link: str) -> Path:
    """The release build, so compiled and linked."""
    environment = os.environ | {
        "RUSTC_WORKSPACE_WRAPPER": str(wrapped(target / "fast", code, link)),
        "LLVM_PROFILE_FILE": os.devnull,  # what the build itself runs is no profile
    }
    words = ["cargo", "build", "--release", "--locked", "-p", "truckee-cli", "--target-dir", str(target)]
    subprocess.run(words, check=True, cwd=ROOT, env=environment)
    return target / "release/truckee"


def digest(file: Path) -> str:
    """Of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def trained(program: Path, folder: Path) -> Path:
    """The profile of what an instrumented program does with the scenarios."""
    of = hashlib.sha256(f"{digest(program)} {SCENARIOS} {STUDIES}".encode()).hexdigest()[:16]
    profile = folder / f"{of}.profdata"
    if profile.exists():
        return profile
    print(f"==> running {len(SCENARIOS)} scenarios and {len(STUDIES)} studies for the profile", flush=True)
    shutil.rmtree(folder / "runs", ignore_errors=True)
    words = [["run", str(scenario), "--seed", "1"] for scenario in SCENARIOS]
    words.append(["study", "run", *STUDIES, "--quick", "--jobs", "1", "--out", str(folder / "runs/studies")])
    for one in words:
        done = subprocess.run(
            [program, *one],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"LLVM_PROFILE_FILE": str(folder / "runs/%m.profraw")},
        )
        if done.returncode not in (0, 1):  # 1: a check of a quick study does not hold, which is no matter here
            raise SystemExit(f"{done.stderr}error: truckee {shlex.join(one)} ended with status {done.returncode}")
    for old in folder.glob("*.profdata"):
        old.unlink()
    merged = folder / "merged"
    subprocess.run([profiler(), "merge", "--output", merged, *(folder / "runs").glob("*.profraw")], check=True)
    merged.rename(profile)
    return profile


def main() -> int:
    """Builds, runs, and builds."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    target = Path(sys.argv[1]).absolute()
    folder = target / "fast"
    profiler()
    print("==> building truckee for a profile of it (the first time takes some minutes)", flush=True)
    # Whoever runs what is built meanwhile finds nothing of it in the folder that he is in.
    profile = trained(build(target, f"-Cprofile-generate={folder / 'stray'}", ""), folder)
    print("==> building truckee by the profile", flush=True)
    # At fixed addresses nothing is to be relocated at the start of each run.
    program = build(target, f"-Cprofile-use={profile}", "-Clink-arg=-no-pie")
    shutil.copy2(program, folder / "truckee.new")
    (folder / "truckee.new").rename(folder / "truckee")
    return 0


if __name__ == "__main__":
    sys.exit(main())
