/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads that only have options, in place of load/load.c: suites can be tested whatever the real
 * loads look like today. Include it in one file of a program.
 */
#ifndef UNIT_FAKE_LOADS_H
#define UNIT_FAKE_LOADS_H

#include <errno.h>
#include <string.h>

#include "load/load.h"

const char *const load_families[] = {"ipv4", "ipv6", NULL};

struct stream_cfg {
	struct traffic_cfg traffic;
	uint64_t streams;
	uint64_t size;
	struct rate rate;
	int direction;
	char *congestion;
};

static const char *const directions[] = {"forward", "reverse", "both", NULL};

static const struct opt stream_opts[] = {
	TRAFFIC_OPTS,
	{.name = "streams",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct stream_cfg, streams),
	 .def = "1",
	 .min = 1,
	 .max = 1024},
	{.name = "size",
	 .type = OPT_SIZE,
	 .offset = offsetof(struct stream_cfg, size),
	 .def = "1400",
	 .min = 16,
	 .max = 65507},
	{.name = "rate",
	 .type = OPT_RATE,
	 .offset = offsetof(struct stream_cfg, rate),
	 .def = "max"},
	{.name = "direction",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct stream_cfg, direction),
	 .def = "forward",
	 .choices = directions},
	{.name = "congestion", .type = OPT_TEXT, .offset = offsetof(struct stream_cfg, congestion)},
	{0},
};

/* Two streams cannot go both ways: a configuration that contradicts itself. */
static int stream_check(const void *cfg, struct err *err)
{
	const struct stream_cfg *c = cfg;

	if (c->direction == 2 && c->streams == 2)
		return err_set(err, EINVAL, "two streams cannot go both ways");
	if (c->congestion && !strcmp(c->congestion, "absent"))
		return err_set(err, EOPNOTSUPP, "the kernel has no congestion control 'absent'");
	return 0;
}

struct spin_cfg {
	uint64_t rounds;
};

static const struct opt spin_opts[] = {
	{.name = "rounds",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct spin_cfg, rounds),
	 .def = "10"},
	{0},
};

static const struct load fake_tcp = {
	.kind = {.name = "tcp",
		 .opts = stream_opts,
		 .cfg_size = sizeof(struct stream_cfg),
		 .check = stream_check},
	.traffic = true,
};

static const struct load fake_udp = {
	.kind = {.name = "udp",
		 .opts = stream_opts,
		 .cfg_size = sizeof(struct stream_cfg),
		 .check = stream_check},
	.traffic = true,
};

static const struct load fake_spin = {
	.kind = {.name = "spin", .opts = spin_opts, .cfg_size = sizeof(struct spin_cfg)},
};

const struct load *const loads[] = {&fake_tcp, &fake_udp, &fake_spin, NULL};

int load_find(const char *name, const struct load **ret, struct err *err)
{
	static const char *const names[] = {"tcp", "udp", "spin"};
	const char *near;

	for (size_t i = 0; loads[i]; i++) {
		if (strcmp(loads[i]->kind.name, name))
			continue;
		*ret = loads[i];
		return 0;
	}
	near = name_nearest(names, 3, name);
	return err_set(err, EINVAL, "no load '%.64s'%s%s%s", name, near ? "; did you mean '" : "",
		       near ? near : "", near ? "'?" : "");
}

#endif
