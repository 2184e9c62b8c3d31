/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The receiver of test frames, in one of three places: a program counts at the XDP hook of the last
 * device, or as the filter of the socket that frames are meant for; or a lane reads that socket.
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
struct frames_payload;
struct lab;
struct sink_count;

enum frames_place { FRAMES_AT_XDP, FRAMES_AT_SOCKET, FRAMES_AT_READER };

struct frames_sink_options {
	struct lab *lab;
	size_t node;
	const struct frames_path *path;
	const struct frames_look *look;
	uint16_t port; /* host byte order */
	bool vlan;
	bool concurrent; /* frames may arrive on several CPUs at once */
	int reader_fd; /* FRAMES_AT_READER: the socket, owned by the lab; -1: the sink makes one */
};

struct frames_sink;

/* On failure nothing is left. -EPERM: programs may not be loaded; -EBUSY: the hook is taken. */
int frames_sink_open(const struct frames_sink_options *options, enum frames_place place,
		     struct frames_sink **ret, struct err *err);
/* NULL is fine. */
void frames_sink_close(struct frames_sink *sink);
enum frames_place frames_sink_place(const struct frames_sink *sink);
/* "XDP at eth0", "a socket filter", "a reader of the socket". */
const char *frames_sink_text(const struct frames_sink *sink);
/*
 * Let everything pass at the XDP hook of a device of the node, so that it takes redirected frames. A
 * program that is there already will do. It stays until the sink is closed.
 */
int frames_sink_pass(struct frames_sink *sink, size_t node, int ifindex, struct err *err);

/* FRAMES_AT_READER: the socket, and what its lane does with a packet of len bytes behind the UDP header. */
int frames_sink_fd(const struct frames_sink *sink);
void frames_sink_take(struct frames_sink *sink, const struct frames_payload *payload, size_t len);

/* The sum over CPUs, at any time and from any process. */
void frames_sink_read(const struct frames_sink *sink, struct sink_count *ret);
/* Add the one-way latencies of the measured frames. */
void frames_sink_latency(const struct frames_sink *sink, struct hist *into);

#endif
