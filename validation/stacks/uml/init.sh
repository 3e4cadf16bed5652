#!/bin/sh
# The first process of user-mode Linux, on the host's files, read-only. Its kernel was told stack_control, stack_size.
set -e
mount -t proc proc /proc
modules=/usr/lib/uml/modules/$(uname -r)/kernel
# What is no module is in the kernel.
for module in lib/crc-ccitt net/ipv6/ipv6 "net/ipv4/tcp_$stack_control"; do
    [ ! -e "$modules/$module.ko" ] || insmod "$modules/$module.ko"
done
echo "$stack_control" >/proc/sys/net/ipv4/tcp_congestion_control
ip link set lo up
ip address add 10.78.0.2/24 dev vec0
# The TAP device is made here, and raised on the other side after that. A packet that is sent between the two makes the
# driver fail for good; IPv6 sends some by itself. So it has to wait for the first packet that comes.
echo 1 >/proc/sys/net/ipv6/conf/vec0/disable_ipv6
ip link set vec0 up
while grep -q 'vec0: *0 ' /proc/net/dev; do sleep 0.02; done
echo 0 >/proc/sys/net/ipv6/conf/vec0/disable_ipv6
ip address add fd78::2/64 dev vec0 nodad
ip route add default via 10.78.0.1
ip route add default via fd78::1
export web_ipv6=yes
exec "${0%/*}/../web.sh" "$stack_size"
