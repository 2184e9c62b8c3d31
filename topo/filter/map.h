/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option map of a filter: "eth1=wan0", what the user's ruleset calls an interface of the node. */
#ifndef TOPO_FILTER_MAP_H
#define TOPO_FILTER_MAP_H

#include "topo/lab.h"

struct filter_rename {
	char from[IF_NAME_MAX], to[IF_NAME_MAX];
};

/*
 * All pairs of spec->map, whose texts may hold several with commas between them. *ret is to be
 * freed. -EINVAL at the filter's mark if one is no pair of names.
 */
int filter_map(const struct filter_spec *spec, struct filter_rename **ret, size_t *ret_n,
	       struct err *err);

#endif
