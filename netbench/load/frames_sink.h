/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The receiver of test frames. It has no process of its own: a program counts at the XDP hook of the
 * last device, or as the filter of the socket that frames are meant for.
 */
#ifndef LOAD_FRAMES_SINK_H
#define LOAD_FRAMES_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"

struct frames_look;
struct frames_path;
struct lab;
struct sink_count;

struct frames_sink_options {
	struct lab *lab;
	size_t node;
	const struct frames_path *path;
	const struct frames_look *look;
	uint16_t port; /* host byte order */
	bool vlan;
	bool no_xdp;	 /* the hook of the last device is taken, or frames do not pass it */
	bool want_xdp;	 /* fail rather than use a socket */
	bool concurrent; /* frames may arrive on several CPUs at once */
};

struct frames_sink;

/* -EOPNOTSUPP or -EBUSY with want_xdp. On failure nothing is left. */
int frames_sink_open(const struct frames_sink_options *options, struct frames_sink **ret,
		     struct err *err);
/* NULL is fine. */
void frames_sink_close(struct frames_sink *sink);
/* "XDP at eth0", "socket". */
const char *frames_sink_place(const struct frames_sink *sink);
bool frames_sink_at_xdp(const struct frames_sink *sink);
/*
 * Let everything pass at the XDP hook of a device of the node, so that it takes redirected frames. A
 * program that is there already will do. It stays until the sink is closed.
 */
int frames_sink_pass(struct frames_sink *sink, size_t node, int ifindex, struct err *err);

/* The sum over CPUs, at any time and from any process. */
void frames_sink_read(const struct frames_sink *sink, struct sink_count *ret);
/* Add the one-way latencies of the measured frames. */
void frames_sink_latency(const struct frames_sink *sink, struct hist *into);

#endif
