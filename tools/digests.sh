#!/usr/bin/env bash
# Holds Truckee to its word: same scenario, same seed, same digest. Debug and release builds must agree on every example,
# and a sweep must give the same table on one thread and on two.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=${CARGO_TARGET_DIR:-target}
# As `cargo test --workspace` builds it: another choice of packages may mean other features, and all dependencies anew.
cargo build --locked --quiet --workspace --tests
cargo build --locked --quiet --release -p truckee-cli
debug=$TARGET/debug/truckee release=$TARGET/release/truckee
passed=0 failed=0

same() { # what, one, other
    if [[ -n $2 && $2 == "$3" ]]; then
        passed=$((passed + 1))
        echo "same: $1"
    else
        failed=$((failed + 1))
        echo "DIFFERENT: $1: \"$2\" and \"$3\""
    fi
}

digest() { "$@" --format json | sed -n 's/^ *"digest": "\([0-9a-f]*\)".*/\1/p'; }

for scenario in examples/*.toml; do
    same "$scenario, debug and release" "$(digest "$debug" run "$scenario")" "$(digest "$release" run "$scenario")"
done
table() {
    "$release" sweep examples/wireless.toml --set duration=30s --vary flow.sender=reno,newreno-lp --runs 8 \
        --format csv --jobs "$1" | sha256sum
}
same "a sweep on one thread and on two" "$(table 1)" "$(table 2)"
echo "$passed passed, $failed failed"
((failed == 0))
