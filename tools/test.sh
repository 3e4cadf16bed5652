#!/usr/bin/env bash
# Every check of this repository, each on its own, with one closing line for all. What a step prints goes to the
# terminal and to a log beside the build; the count is of tests, and of steps that are not made of tests.
#
#   tools/test.sh             all steps
#   tools/test.sh lints book  these
set -uo pipefail
cd "$(dirname "$0")/.."

TARGET=${CARGO_TARGET_DIR:-target}
LOGS=$TARGET/checks
STEPS=(format lints tests digests studies licences python book)
mkdir -p "$LOGS"

format() { cargo fmt --all --check; }
lints() {
    cargo clippy --locked --workspace --all-targets -- -D warnings &&
        # As it is built without clang, or on another system than Linux: all but the live leg.
        cargo clippy --locked -p truckee-cli --no-default-features -- -D warnings
}
tests() { cargo test --locked --workspace --no-fail-fast; }
digests() { tools/digests.sh; }
# Where the doctor finds that live runs are possible, a live study that is skipped is a failure.
studies() {
    make --no-print-directory release || return
    local live=()
    if "$TARGET/release/truckee" doctor; then live=(--require-live); fi
    "$TARGET/release/truckee" study run --all --quick "${live[@]}"
}
licences() { tools/licences.py; }
python() {
    .venv/bin/ruff format --check bench docs tools validation &&
        .venv/bin/ruff check bench docs tools validation &&
        (cd bench && ../.venv/bin/mypy .) &&
        (cd validation && MYPYPATH=../bench ../.venv/bin/mypy .) &&
        (cd docs && ../.venv/bin/mypy --strict generate.py test_generate.py) &&
        (cd tools && ../.venv/bin/mypy --strict licences.py test_licences.py) &&
        .venv/bin/python -m unittest discover -s bench &&
        .venv/bin/python -m unittest discover -s validation &&
        .venv/bin/python -m unittest discover -s tools &&
        .venv/bin/python -m unittest discover -s docs
}
book() { make --no-print-directory book; }

passed=0 failed=0 broken=()
for step in "${@:-${STEPS[@]}}"; do
    if [[ " ${STEPS[*]} " != *" $step "* ]]; then
        echo "there is no step \"$step\", only ${STEPS[*]}" >&2
        exit 2
    fi
    echo "==> $step"
    began=$SECONDS
    "$step" </dev/null 2>&1 | tee "$LOGS/$step.log"
    status=${PIPESTATUS[0]}
    # cargo: "test result: ok. 12 passed; 0 failed; …"; unittest: "Ran 12 tests", "FAILED (failures=1, errors=2)"; our
    # own steps: "12 passed, 0 failed".
    read -r good bad < <(awk '
        /^test result:/   { good += $4; bad += $6 }
        /^Ran [0-9]+ tests?/ { good += $2 }
        /^FAILED \(/      { while (match($0, /=[0-9]+/)) { n = substr($0, RSTART + 1, RLENGTH - 1); good -= n; bad += n; $0 = substr($0, RSTART + RLENGTH) } }
        /^[0-9]+ passed, [0-9]+ failed/ { good += $1; bad += $3 }
        END { print good + 0, bad + 0 }' "$LOGS/$step.log")
    if ((status != 0 && bad == 0)); then
        bad=1
    elif ((status == 0 && good == 0)); then
        good=1
    fi
    ((status == 0 && bad == 0)) || broken+=("$step")
    passed=$((passed + good)) failed=$((failed + bad))
    echo "==> $step: $good passed, $bad failed, $((SECONDS - began)) s"
done

((${#broken[@]} == 0)) || echo "failed: ${broken[*]} (logs in $LOGS)"
echo "$passed passed, $failed failed"
((${#broken[@]} == 0))
