/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the frames load share: its options, its lanes and its state. */
#ifndef LOAD_FRAMES_H
#define LOAD_FRAMES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/frames_shape.h"
#include "load/frames_sink.h"
#include "load/lane.h"
#include "load/load.h"

enum frames_engine {
	FRAMES_AUTO,
	FRAMES_XDP, /* live frames, redirected out of the first link */
	FRAMES_INJECT, /* live frames, passed up in the next node as if the first link had brought them */
	FRAMES_TC,     /* live frames, passed up at home and redirected out by a tc program */
	FRAMES_PACKET, /* AF_PACKET past the queueing discipline */
	FRAMES_UDP,    /* UDP socket */
};

enum frames_sink_choice { FRAMES_SINK_AUTO, FRAMES_SINK_XDP, FRAMES_SINK_SOCKET };

extern const char *const frames_engines[];

static inline bool frames_is_live(int engine)
{
	return engine == FRAMES_XDP || engine == FRAMES_INJECT || engine == FRAMES_TC;
}

struct frames_cfg {
	struct traffic_cfg traffic;
	int engine, sink;
	struct frames_options look;
	struct rate rate;
	int layer; /* of a rate in bit/s: 0 = L1, 1 = L2 */
	uint64_t threads, burst, batch, count;
	char *cpus_from;
};

struct frames_lane {
	struct lane_shared shared;
	/* Valid when the lane is done, but for shared.packets of the engines in user space. */
	uint64_t sent, measured, unsent;
	uint64_t late_ns; /* of the window, before the first frame left */
	uint64_t cycles;  /* of the CPU, all frames together; 0: not known */
	struct hist late; /* departure minus due time */
};

struct frames_live;

/* What the filters on the way have dropped so far. */
struct frames_mark {
	uint64_t ns, dropped;
	int failed; /* -errno: the counters could not be read */
};

struct frames_state {
	enum frames_engine engine;
	char why[160]; /* the reason for the choice */
	struct frames_path path;
	struct frames_look look;
	struct frames_live *lives; /* one per sending lane of the live engines */
	size_t n_lives;
	int *fds; /* one per sending lane of the engines in user space */
	size_t n_fds;
	struct frames_sink *sink;
	size_t *filters; /* those on the way, as in lab_spec->filters */
	size_t n_filters;
	size_t socket_filter;	     /* whose socket the reader reads; SIZE_MAX: none */
	struct frames_mark marks[2]; /* at the begin and end of the window */
};

/* The share of the asked rate that the schedule of one of `threads` lanes keeps. */
struct frames_pace {
	uint64_t interval, first; /* << FRAMES_DUE_SHIFT, between bursts; 0: as fast as it goes */
	uint64_t count;		  /* frames to send; 0: until the end */
};
/* Frames per second of all lanes together; 0: as fast as it goes. */
double frames_asked_pps(const struct frames_cfg *cfg, const struct frames_look *look);
void frames_pace(const struct frames_cfg *cfg, const struct frames_look *look, size_t lane,
		 size_t threads, struct frames_pace *ret);

/* Can this kernel run live frames? 0, -EOPNOTSUPP, or -EPERM when it cannot be known. */
int frames_live_probe(struct err *err);
/* In the runner, once the lanes are there: programs for all of them. */
int frames_live_open(struct load_run *run, struct err *err);
void frames_live_close(struct frames_state *state);
int frames_live_send(struct lane *lane, struct err *err);

/* The same for the engines in user space. */
int frames_socket_open(struct load_run *run, uint16_t port, struct err *err);
void frames_socket_close(struct frames_state *state);
int frames_socket_send(struct lane *lane, struct err *err);

int frames_receive(struct lane *lane, struct err *err);

/*
 * In a sending lane: when the first frame is due. A counted number of frames is sent inside the window,
 * anything else from the start on.
 */
uint64_t frames_start(const struct lane *lane);
/* After the last frame: until nothing more reaches the sink. */
void frames_drain(const struct lane *lane);

/* Which filters are on the way, and what they have dropped so far. */
int frames_filters_find(struct load_run *run, struct err *err);
void frames_filters_read(const struct load_run *run, struct frames_mark *ret);
/* One of them is there to drop the frames and counts them: then that is what is measured. */
bool frames_filters_drop(const struct load_run *run);

int frames_open(struct load_run *run, struct err *err);
void frames_close(struct load_run *run);
int frames_collect(struct load_run *run, struct result_case *c, struct err *err);

#endif
