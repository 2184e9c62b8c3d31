/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traffic control messages: filters at the ingress of a device, and actions that filters share. */
#ifndef TOPO_TC_H
#define TOPO_TC_H

#include <stdint.h>

#include "topo/nl.h"

/*
 * Turn the answer to one of the requests below into "the kernel has no WHAT (CONFIG_OPTION)" and
 * -EOPNOTSUPP if that is what it means; another code is handed back as it is.
 */
int tc_missing(int code, const char *what, const char *option, struct err *err);

/* Let the device have filters. One that has them already is fine. */
int tc_clsact(struct nl *nl, int ifindex, const char *ifname, struct err *err);

/*
 * Start a filter of a kind ("bpf", "u32", …) at the ingress; its options are put between this and
 * tc_end_filter(). protocol is an ETH_P_…, priority 0 lets the kernel choose.
 */
struct tc_filter {
	struct nlmsghdr *nlh;
	struct nlattr *options;
};
struct tc_filter tc_put_filter(struct nl_batch *batch, int ifindex, const char *ifname,
			       const char *kind, uint16_t protocol, uint16_t priority);
void tc_end_filter(const struct tc_filter *filter);

/* A generic action (act_gact) that does `verdict` (TC_ACT_…), under an index that was free. */
int tc_gact_new(struct nl *nl, int verdict, uint32_t *ret_index, struct err *err);
/* Make a filter use it: attr is the filter kind's attribute for actions. */
void tc_put_gact(struct nlmsghdr *nlh, uint16_t attr, uint32_t index);
/* Packets that it has acted on. */
int tc_gact_packets(struct nl *nl, uint32_t index, uint64_t *ret, struct err *err);

#endif
