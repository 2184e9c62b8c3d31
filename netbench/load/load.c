/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the list of loads: a new load is one line here. */
#include "load/load.h"

#include <errno.h>
#include <string.h>

const char *const load_families[] = {"ipv4", "ipv6", NULL};

const struct load *const loads[] = {
	&load_tcp, &load_udp, &load_frames, &load_rr, &load_ping, NULL,
};

int load_find(const char *name, const struct load **ret, struct err *err)
{
	const char *names[sizeof(loads) / sizeof(*loads)] = {NULL}, *near;
	size_t n = 0;

	for (; loads[n]; n++) {
		names[n] = loads[n]->kind.name;
		if (strcmp(names[n], name) != 0)
			continue;
		*ret = loads[n];
		return 0;
	}
	near = name_nearest(names, n, name);
	if (near)
		return err_set(err, EINVAL, "no load '%.64s'; did you mean '%s'?", name, near);
	return err_set(err, EINVAL, "no load '%.64s'", name);
}
