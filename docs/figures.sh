#!/usr/bin/env bash
# Draws the book's figures of algorithms anew: each is a run of a scenario in docs/scenarios. `make figures` calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
TRUCKEE=${TRUCKEE:-target/release/truckee}

draw() { # figure, scenario, overrides
    local figure=$1 scenario=$2
    shift 2
    local sets=()
    for set in "$@"; do sets+=(--set "$set"); done
    "$TRUCKEE" run "docs/scenarios/$scenario.toml" "${sets[@]}" --figure "docs/figures/$figure.svg" >/dev/null
    echo "docs/figures/$figure.svg"
}

for sender in tahoe tahoe-nofr reno newreno sack; do
    draw "$sender" burst flow.sender=$sender
done
draw per-ack start flow.receiver=delayed
draw byte-counting start flow.receiver=delayed 'flow.sender={ growth = "byte-counting" }'
draw halve noise
draw by-cause noise flow.sender=newreno-lp
draw spike noise 'flow.sender=newreno-lp(spike)'
draw ideal noise 'flow.sender=newreno-lp(ideal)'
draw to-estimate noise 'flow.sender={ response = "to-estimate" }'
draw every start flow.receiver=every
draw delayed start flow.receiver=delayed
draw rto outage
"$TRUCKEE" run examples/lossless.toml --set duration=8s --figure docs/figures/tutorial-lossless.svg >/dev/null
"$TRUCKEE" run examples/cellular-trace.toml --figure docs/figures/cellular.svg >/dev/null

# The first page's figure: the full study.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$TRUCKEE" study run wireless-download --out "$scratch" >/dev/null
cp "$scratch"/wireless-download/download.svg docs/figures/wireless-download.svg
echo docs/figures/wireless-download.svg
