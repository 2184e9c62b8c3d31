/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter program of this project, loaded with the rules of a filter, for any of its hooks. */
#ifndef TOPO_FILTER_DROP_H
#define TOPO_FILTER_DROP_H

#include "topo/filter/filter.h"

enum drop_hook { DROP_ON_XDP, DROP_ON_TC, DROP_ON_SOCKET };

struct drop;

/*
 * Load the program and fill its tables; attaching it is the caller's. -EOPNOTSUPP when the kernel
 * is too old (Linux 5.17 brought bpf_loop) or has too many CPUs.
 */
int drop_load(const struct filter_spec *spec, enum drop_hook hook, struct drop **ret,
	      struct err *err);
/* NULL is fine. The kernel keeps the program for as long as it is attached. */
void drop_free(struct drop *drop);
/* Owned by drop. */
int drop_fd(const struct drop *drop);
/* Exact; reads shared memory, no system call. */
void drop_read(const struct drop *drop, struct filter_counters *ret);

#endif
