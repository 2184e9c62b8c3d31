/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rtnetlink messages about links. */
#ifndef TOPO_LINK_H
#define TOPO_LINK_H

#include "topo/node.h"

/*
 * Create a veth pair, each end born in its namespace with its final name, index, address and MTU;
 * may be sent on the socket of any node of the lab. The first end is up, the second is not yet.
 */
void link_put_veth(struct nl_batch *batch, const struct wire *wire, const struct link_spec *spec,
		   const int netns[2]);
/* Set a link up; sent on the socket of its own node. */
void link_put_up(struct nl_batch *batch, int ifindex, const char *ifname);
/* Wait until the kernel lets packets out of the link: its carrier is noticed in the background. */
int link_wait_up(struct nl *nl, int ifindex, const char *ifname, struct err *err);

#endif
