/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rtnetlink messages about neighbours. */
#ifndef TOPO_NEIGH_H
#define TOPO_NEIGH_H

#include "topo/nl.h"
#include "topo/plan.h"

/* Tell one end of a wire, for good, where the other end is. */
void neigh_put(struct nl_batch *batch, const struct wire *wire, unsigned int side, int family);

#endif
