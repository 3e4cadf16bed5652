#!/bin/sh
# libslirp in a namespace, in front of nginx: what comes for 10.78.0.2 at the namespace's TAP device ends in libslirp's
# TCP, which carries it on to this process's own loopback. start.sh NAMESPACE DEVICE BYTES, in a network namespace and a
# mount namespace of its own.
set -e
ip link set lo up
"$(dirname "$0")/../web.sh" "$3" &
exec slirp4netns --netns-type=path --cidr=10.78.0.0/24 --mtu=1500 --disable-dns "/run/netns/$1" "$2"
