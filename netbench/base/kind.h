/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record that loads, tunnels and filters start with, so list, help and YAML are written once. */
#ifndef BASE_KIND_H
#define BASE_KIND_H

#include <stddef.h>

#include "base/opt.h"

struct kind {
	const char *name, *help;
	const struct opt *opts;
	size_t cfg_size;
	/*
	 * Can it run here, with this configuration? 0, or -EOPNOTSUPP with the reason (the case is
	 * skipped), or -EINVAL with the reason (the configuration contradicts itself: exit 2).
	 * Called before anything is built; must not change the system. NULL: always.
	 */
	int (*check)(const void *cfg, struct err *err);
};

#endif
