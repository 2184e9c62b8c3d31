/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rtnetlink messages about addresses. */
#ifndef TOPO_ADDR_H
#define TOPO_ADDR_H

#include "topo/nl.h"
#include "topo/plan.h"

/* Give one end of a wire its address of a family. */
void addr_put(struct nl_batch *batch, const struct wire *wire, unsigned int side, int family);
/* Wait until the node takes packets for the end's IPv6 address. */
int addr_wait6(struct nl *nl, const struct end *end, struct err *err);

#endif
