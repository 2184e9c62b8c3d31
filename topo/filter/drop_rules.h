/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of a filter as the elements of BPF maps. */
#ifndef TOPO_FILTER_DROP_RULES_H
#define TOPO_FILTER_DROP_RULES_H

#include <stddef.h>

#include "bpf/drop.h"
#include "topo/filter/filter.h"

/* Keys and values, as bpf_map_update_batch() takes them. */
struct drop_table {
	size_t key_size, value_size, n;
	unsigned char *keys, *values;
};

/* Which of the two: the one that test frames hit, or one that no UDP or TCP packet hits. */
struct drop_rule4 drop_rule4(size_t i, bool hit);
struct drop_rule6 drop_rule6(size_t i, bool hit);

/* Is the i-th rule of the filter the one that test frames hit? */
bool drop_is_hit(const struct filter_spec *spec, size_t i);

/* All rules for one family (4 or 6) in the given structure but DROP_NONE and DROP_SINGLE. -ENOMEM. */
int drop_table_make(const struct filter_spec *spec, enum drop_structure structure, int version,
		    struct drop_table *ret);
void drop_table_release(struct drop_table *table);

#endif
