#!/usr/bin/env bash
# Every check of this repository, each on its own, with one closing line for all. What a step prints goes to the
# terminal and to a log beside the build; the count is of tests, and of steps that are not made of tests.
#
#   tools/test.sh             all steps
#   tools/test.sh lints book  these
#
# Live tests, live studies and the browser go by the machine's own clock, and a machine that stands still for a moment
# can make one of them fail. So what failed there is tried once more, by itself, at the end of its step, and the last lines
# say so. What is really wrong fails again, as does all that the simulator does, which knows no such clock.
set -uo pipefail
cd "$(dirname "$0")/.."

TARGET=${CARGO_TARGET_DIR:-target}
LOGS=$TARGET/checks
SMOLTCP=validation/stacks/smoltcp/Cargo.toml
STEPS=(format lints tests digests studies stacks licences python pages book)
mkdir -p "$LOGS"

format() {
    cargo fmt --all --check && cargo fmt --manifest-path "$SMOLTCP" --check
}
lints() {
    cargo clippy --locked --workspace --all-targets -- -D warnings &&
        # As it is built without clang, or on another system than Linux: all but the live leg.
        cargo clippy --locked -p truckee-cli --no-default-features -- -D warnings &&
        cargo clippy --locked --manifest-path "$SMOLTCP" --target-dir "$TARGET/stacks" -- -D warnings
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
# Foreign TCP stacks before the probe. A stack that the machine has not is left out; in CI that is a failure.
stacks() {
    if ((EUID != 0)) && [[ -z ${CI:-} ]]; then
        echo "foreign stacks need root: left out"
        return
    fi
    make --no-print-directory release && validation/stacks/run.py --quick --truckee "$TARGET/release/truckee"
}
licences() { tools/licences.py; }
python() {
    .venv/bin/ruff format --check bench docs tests tools validation &&
        .venv/bin/ruff check bench docs tests tools validation &&
        (cd bench && ../.venv/bin/mypy .) &&
        (cd validation && MYPYPATH=../bench ../.venv/bin/mypy --exclude '^stacks/' .) &&
        (cd validation/stacks && ../../.venv/bin/mypy .) &&
        (cd docs && ../.venv/bin/mypy --strict generate.py test_generate.py) &&
        (cd tests/report && ../../.venv/bin/mypy --strict pages.py test_report.py) &&
        (cd tools && ../.venv/bin/mypy --strict licences.py test_licences.py) &&
        .venv/bin/python -m unittest discover -s bench &&
        .venv/bin/python -m unittest discover -s validation &&
        .venv/bin/python -m unittest discover -s validation/stacks &&
        .venv/bin/python -m unittest discover -s tools &&
        .venv/bin/python -m unittest discover -s docs
}
# The report's pages, as a browser shows them; pages and screenshots stay beside the build.
pages() {
    make --no-print-directory release &&
        TRUCKEE=$(realpath "$TARGET")/release/truckee ARTEFACTS=$(realpath "$TARGET")/report \
            .venv/bin/python -m unittest discover -v -s tests/report
}
book() { make --no-print-directory book; }

# What failed in a step, once more.
again_tests() {
    local target targets failed status=0
    mapfile -t targets < <(sed -n 's/^ *`\(-p .*\)`$/\1/p' "$LOGS/tests.log")
    mapfile -t failed < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$LOGS/tests.log")
    # A target that was not built, or ended without saying which tests it failed, has nothing to try again.
    awk -v targets=${#targets[@]} -v named=${#failed[@]} '
        /^test result: FAILED/ { ended += 1; failed += $6 }
        END { exit !(ended > 0 && ended == targets && failed == named) }' "$LOGS/tests.log" || return
    for target in "${targets[@]}"; do
        # shellcheck disable=SC2086 # words of a command line
        cargo test --locked $target -- --exact --test-threads 1 "${failed[@]}" || status=1
    done
    return $status
}
again_studies() {
    local failed
    failed=$(sed -n 's/^error: checks failed in //p' "$LOGS/studies.log" | tr -d ,)
    # shellcheck disable=SC2086 # ids
    [[ -n $failed ]] && "$TARGET/release/truckee" study run $failed --quick
}
again_pages() { pages; }

# What a step's log says of what failed, short enough for the end of a long output.
failures() {
    local named
    named=$(awk '
        /^test .* \.\.\. FAILED/ || /^(FAIL|ERROR): / || /^error(\[|:)/ { print "  " $0 }
        /^thread .* panicked at / { print "  " $0; lines = 4; next }
        /^[[:space:]]*(fail|FAIL)[[:space:]]/ { print "  " $0 }
        lines > 0 { print "    " $0; lines -= 1 }' "$LOGS/$1.log")
    [[ -n $named ]] || named=$(tail -n 20 "$LOGS/$1.log")
    head -n 60 <<<"$named" | cut -c1-300
}

passed=0 failed=0 broken=() again=()
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
    if ((bad > 0)) && declare -F "again_$step" >/dev/null; then
        echo "==> $step: what failed, once more"
        if "again_$step" </dev/null 2>&1 | tee "$LOGS/$step.again.log"; then
            again+=("$step") good=$((good + bad)) status=0 bad=0
        fi
    fi
    ((status == 0 && bad == 0)) || broken+=("$step")
    passed=$((passed + good)) failed=$((failed + bad))
    echo "==> $step: $good passed, $bad failed, $((SECONDS - began)) s"
done

for step in "${again[@]}"; do
    echo "==> what failed in $step, but not once more (all of it in $LOGS/$step.log):"
    failures "$step"
done
for step in "${broken[@]}"; do
    echo "==> what failed in $step (all of it in $LOGS/$step.log):"
    failures "$step"
done
((${#broken[@]} == 0)) || echo "failed: ${broken[*]} (logs in $LOGS)"
echo "$passed passed, $failed failed"
((${#broken[@]} == 0))
