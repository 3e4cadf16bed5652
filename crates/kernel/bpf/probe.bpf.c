// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
char _license[] __attribute__((section("license"), used)) = "GPL";
