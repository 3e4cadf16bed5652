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
for predictor in vegas-single ncpld flip-flop random always-wireless; do
    draw predictor-$predictor noise "flow.sender=newreno-lp($predictor)"
done
draw to-estimate noise 'flow.sender={ response = "to-estimate" }'
draw tibet noise flow.sender=tibet
draw ideal-bandwidth noise flow.sender=ideal-bandwidth
for estimator in packet-pair vegas-rate ewma; do
    draw estimator-$estimator estimates "flow.observe={ estimators = [\"$estimator\"] }"
done
draw estimator-westwood estimates 'flow.observe={ estimators = ["westwood-1", "westwood-2", "westwood-3"] }'
draw estimator-csfq estimates 'flow.observe={ estimators = ["csfq", { csfq = { k = "20s" } }] }'
draw estimator-tibet estimates \
    'flow.observe={ estimators = ["tibet", { tibet = { on = "acks" } }, { tibet = { smoother = false } }] }'
draw vegas noise flow.sender=vegas
draw vegas-start start flow.sender=vegas flow.initial_ssthresh=1000segments
draw highspeed fast flow.sender=hstcp
draw highspeed-newreno fast
draw highspeed-lp fast flow.sender=newreno-lp+hstcp
draw limited-slow-start fast flow.sender=limited-slow-start flow.initial_ssthresh=10000segments
draw selective-slow-start handoffs flow.sender=selective-slow-start
draw selective-slow-start-reno handoffs
draw santa-cruz noise flow.sender=santa-cruz flow.receiver=every
draw cubic noise flow.sender=cubic
draw cubic-fast fast flow.sender=cubic
draw bbr noise flow.sender=bbr
draw bbr-start start flow.sender=bbr
draw jump-start file flow.sender=jump-start
draw slow-start file
draw quick-start file flow.sender=quick-start
draw quick-start-refused file flow.sender=quick-start link.1.quick_start=false
draw pacing start flow.sender=newreno-paced
draw every start flow.receiver=every
draw delayed start flow.receiver=delayed
draw division file flow.sender=newreno 'flow.receiver={ division = { n = 4, first = 3 } }'
draw taba noise flow.receiver=taba
draw ack-rate-request start 'flow.sender={ growth = "byte-counting" }' flow.receiver=requested flow.ack_rate_request=8
draw spoofed-duplicates start flow.receiver=spoofed-duplicates
draw spoofed-duplicates-limited start flow.receiver=spoofed-duplicates \
    'flow.sender={ recovery = { newreno = { inflation = "outstanding" } } }'
draw accumulated accumulate flow.receiver=accumulated
draw accumulated-full accumulate flow.receiver=accumulated-full
draw ack-filter ack-filter
draw ack-filter-off ack-filter link.queue_back.ack_filter=false
for server in rfc2581 capped harmed; do
    draw $server start flow.sender=$server 'flow.receiver={ division = { n = 4 } }'
done
draw rto outage
draw observe observe duration=120s
draw detect detect duration=20s
for detector in inter-arrival round-growth; do
    draw detector-$detector detect duration=20s "flow.receiver={ taba = { detector = \"$detector\" } }" \
        'flow.observe={}'
done
"$TRUCKEE" run examples/lossless.toml --set duration=8s --figure docs/figures/tutorial-lossless.svg >/dev/null
"$TRUCKEE" run examples/cellular-trace.toml --figure docs/figures/cellular.svg >/dev/null

# The first page's figure: the full study.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$TRUCKEE" study run wireless-download --out "$scratch" >/dev/null
cp "$scratch"/wireless-download/download.svg docs/figures/wireless-download.svg
echo docs/figures/wireless-download.svg
