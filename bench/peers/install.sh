#!/bin/sh
# Installs the peers the benchmarks run beside us, from the distribution's packages (Debian 12 or later): ns-2, ns-3's
# libraries and headers, a C++ compiler for the ns-3 program, and GNU time for peak memory.  Needs root; says what it does.
set -eu

missing=""
for package in ns2 libns3-dev g++ time; do
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
