/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Offloads of network devices, by the ioctls of ethtool(8). */
#ifndef TOPO_OFFLOAD_H
#define TOPO_OFFLOAD_H

#include "topo/lab.h"

enum { FEATURE_BLOCKS = 4, OFFLOADS_ALL = (1 << OFFLOADS) - 1 };

/* Which feature bits of this kernel belong to which offload. */
struct offload_map {
	unsigned int blocks; /* 32 features each; 0: a kernel without feature strings */
	uint32_t bits[OFFLOADS][FEATURE_BLOCKS];
};

/*
 * fd is any socket of the namespace that ifname is in; the map is the same for all devices. For
 * all functions, what names the device in errors.
 */
int offload_map_read(int fd, const char *ifname, struct offload_map *ret, struct err *err);
/* Turn on the offloads in the set (bits of offload_names), as far as there are any; others off. */
int offload_set(int fd, const char *ifname, const struct offload_map *map, uint64_t set,
		struct err *err);
int offload_get(int fd, const char *ifname, const struct offload_map *map, uint64_t wanted,
		struct offload_state ret[OFFLOADS], struct err *err);

#endif
