#!/bin/sh
# Installs what the benchmarks run, from the distribution's packages (Debian 12 or later): the peers beside us, ns-2, ns-3's
# libraries and headers, a C++ compiler for the ns-3 program, GNU time for peak memory; and what the live parts measure with,
# iperf3, tcpdump, cyclictest (rt-tests).  Needs root; says what it does.
set -eu

missing=""
for package in ns2 libns3-dev g++ time iproute2 iperf3 tcpdump rt-tests; do
    if dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed'; then
        echo "$package: there already"
    else
        missing="$missing $package"
    fi
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "install.sh: run this as root, or: sudo apt-get install$missing" >&2
    exit 1
fi
echo "installing:$missing"
apt-get update -q
# shellcheck disable=SC2086  # a list of words on purpose
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
