// SPDX-License-Identifier: GPL-3.0-or-later
/* The least a live frame can cost: out of one device, dropped at the next, untouched. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile int ifindex;

SEC("xdp") int ceiling_out(struct xdp_md *ctx)
{
	(void)ctx;
	return (int)bpf_redirect(ifindex, 0);
}

SEC("xdp") int ceiling_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
