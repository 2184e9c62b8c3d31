/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sink: where its program sits, and what it has counted. */
#include "load/frames_sink.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/histogram.h"
#include "bpf/sink.h"
#include "load/frames_shape.h"
#include "topo/lab.h"

/* The skeleton needs the structs above. */
#include "bpf/sink.skel.h"

_Static_assert(sizeof(struct hist) == sizeof(struct histogram), "one histogram");
_Static_assert(offsetof(struct hist, bucket) == offsetof(struct histogram, bucket),
	       "one histogram");
_Static_assert((int)HIST_BUCKETS == (int)HISTOGRAM_BUCKETS && HIST_MAX_NS == HISTOGRAM_MAX_NS,
	       "one histogram");

enum { PASSES_MAX = 2 };

struct frames_sink {
	struct lab *lab;
	struct sink_bpf *skel;
	struct bpf_link *link;
	struct bpf_link *passes[PASSES_MAX];
	size_t n_passes;
	int fd; /* socket, or -1 */
	struct hist *latency;
	size_t n_latency, latency_size;
	char place[48];
};

static uint32_t flow_memory(const struct frames_look *look, struct frames_flows *ret)
{
	uint32_t at = 0;

	for (size_t i = 0; i < look->n_streams; i++) {
		ret[i] = look->flows[i];
		ret[i].first = at;
		at += ret[i].n;
	}
	return at;
}

static void configure(const struct frames_sink_options *o, struct sink_bpf *skel, bool xdp)
{
	const struct frames_shape *shape = &o->look->shape;
	const uint16_t tag = o->vlan ? 4 : 0;
	struct sink_config *config = (struct sink_config *)&skel->rodata->config;
	const uint32_t flows = flow_memory(o->look, config->flows);

	config->n_streams = (uint32_t)o->look->n_streams;
	config->port = htons(o->port);
	config->l3 = shape->l3 - tag;
	config->l4 = shape->l4 - tag;
	config->payload = shape->payload - tag;
	config->v6 = shape->v6;
	config->tcp = shape->tcp;
	config->vlan = o->vlan;
	config->concurrent = o->concurrent || !xdp;
	config->many_flows = shape->many_flows;
	config->long_frames = o->look->longest > 3000;
	config->skip = shape->tcp && !shape->v6 ? 20 : 0;
	if (shape->many_flows)
		bpf_map__set_max_entries(skel->maps.last, flows);
	if (config->concurrent)
		bpf_map__set_max_entries(skel->maps.latency, (uint32_t)libbpf_num_possible_cpus());
	bpf_program__set_autoload(skel->progs.sink_xdp, xdp);
	bpf_program__set_autoload(skel->progs.sink_socket, !xdp);
}

/* Shared with the lanes: read while the program writes, so it is mapped, not copied. */
static int map_latency(struct frames_sink *sink, struct err *err)
{
	sink->n_latency = bpf_map__max_entries(sink->skel->maps.latency);
	sink->latency_size = sink->n_latency * sizeof(struct hist);
	sink->latency = mmap(NULL, sink->latency_size, PROT_READ, MAP_SHARED,
			     bpf_map__fd(sink->skel->maps.latency), 0);
	if (sink->latency != MAP_FAILED)
		return 0;
	sink->latency = NULL;
	return err_sys(err, errno, "cannot map the latencies of the sink");
}

static int load(struct frames_sink *sink, const struct frames_sink_options *o, bool xdp,
		struct err *err)
{
	int r;

	sink->skel = sink_bpf__open();
	if (!sink->skel)
		return err_sys(err, errno, "cannot open the sink program");
	configure(o, sink->skel, xdp);
	r = sink_bpf__load(sink->skel);
	return r ? err_sys(err, r, "cannot load the sink program") : map_latency(sink, err);
}

/* In the node: a link to the XDP hook of the device. */
static int attach_xdp(struct lab *lab, size_t node, struct bpf_program *program, int ifindex,
		      struct bpf_link **ret, struct err *err)
{
	int r = lab_enter(lab, node, err);
	struct err lost;

	if (r)
		return r;
	*ret = bpf_program__attach_xdp(program, ifindex);
	if (!*ret)
		r = err_sys(err, errno, "cannot attach to the XDP hook of a device of node '%s'",
			    lab_spec(lab)->nodes[node].name);
	if (lab_leave(lab, &lost) && !r) {
		*err = lost;
		r = -EPERM;
	}
	return r;
}

int frames_sink_pass(struct frames_sink *sink, size_t node, int ifindex, struct err *err)
{
	int r;

	if (sink->n_passes == PASSES_MAX)
		return err_set(err, EINVAL, "too many devices");
	r = attach_xdp(sink->lab, node, sink->skel->progs.sink_pass, ifindex,
		       &sink->passes[sink->n_passes], err);
	if (r == -EBUSY || r == -EEXIST)
		return 0;
	sink->n_passes += !r;
	return r;
}

static int open_xdp(struct frames_sink *sink, const struct frames_sink_options *o, struct err *err)
{
	const struct wire *wire = lab_plan_wire(lab_plan(o->lab), o->path->last_link);
	int r = load(sink, o, true, err);

	if (!r)
		r = attach_xdp(o->lab, o->node, sink->skel->progs.sink_xdp, o->path->in_ifindex,
			       &sink->link, err);
	if (!r)
		snprintf(sink->place, sizeof(sink->place), "XDP at %s",
			 wire->end[!o->path->last_side].ifname);
	return r;
}

/*
 * A UDP socket on the port of the test frames; for TCP a raw one, which gets copies of what local TCP
 * gets. The filter counts and lets nothing in.
 */
static int open_socket(struct frames_sink *sink, const struct frames_sink_options *o,
		       struct err *err)
{
	const bool v6 = o->look->shape.v6, tcp = o->look->shape.tcp;
	const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(o->port)};
	const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons(o->port)};
	int r = load(sink, o, false, err), program;

	if (r)
		return r;
	sink->fd = lab_socket(o->lab, o->node, v6 ? AF_INET6 : AF_INET, tcp ? SOCK_RAW : SOCK_DGRAM,
			      tcp ? IPPROTO_TCP : 0, err);
	if (sink->fd < 0)
		return sink->fd;
	program = bpf_program__fd(sink->skel->progs.sink_socket);
	if (setsockopt(sink->fd, SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof(program)))
		return err_sys(err, errno, "cannot attach the sink to a socket");
	if (!tcp &&
	    bind(sink->fd, v6 ? (const struct sockaddr *)&any6 : (const struct sockaddr *)&any,
		 v6 ? sizeof(any6) : sizeof(any)))
		return err_sys(err, errno, "cannot bind the sink to port %u", o->port);
	snprintf(sink->place, sizeof(sink->place), "socket");
	return 0;
}

int frames_sink_open(const struct frames_sink_options *options, struct frames_sink **ret,
		     struct err *err)
{
	struct frames_sink *sink = calloc(1, sizeof(*sink));
	int r;

	if (!sink)
		return err_sys(err, ENOMEM, "cannot allocate a sink");
	sink->lab = options->lab;
	sink->fd = -1;
	r = options->no_xdp ? -EBUSY : open_xdp(sink, options, err);
	if (r && !options->want_xdp) {
		sink_bpf__destroy(sink->skel);
		sink->skel = NULL;
		if (sink->latency)
			munmap(sink->latency, sink->latency_size);
		sink->latency = NULL;
		r = open_socket(sink, options, err);
	}
	if (r) {
		frames_sink_close(sink);
		return r;
	}
	*ret = sink;
	return 0;
}

void frames_sink_close(struct frames_sink *sink)
{
	if (!sink)
		return;
	for (size_t i = 0; i < sink->n_passes; i++)
		bpf_link__destroy(sink->passes[i]);
	bpf_link__destroy(sink->link);
	if (sink->fd >= 0)
		close(sink->fd);
	if (sink->latency)
		munmap(sink->latency, sink->latency_size);
	sink_bpf__destroy(sink->skel);
	free(sink);
}

const char *frames_sink_place(const struct frames_sink *sink)
{
	return sink->place;
}

bool frames_sink_at_xdp(const struct frames_sink *sink)
{
	return sink->link != NULL;
}

void frames_sink_read(const struct frames_sink *sink, struct sink_count *ret)
{
	const volatile struct sink_count *counts = sink->skel->bss->counts;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < SINK_CPUS; i++) {
		ret->frames += counts[i].frames;
		ret->bytes += counts[i].bytes;
		ret->measured += counts[i].measured;
		ret->duplicates += counts[i].duplicates;
		ret->ancient += counts[i].ancient;
		ret->reordered += counts[i].reordered;
		ret->gaps += counts[i].gaps;
		ret->unknown += counts[i].unknown;
	}
}

void frames_sink_latency(const struct frames_sink *sink, struct hist *into)
{
	for (size_t i = 0; i < sink->n_latency; i++)
		hist_merge(into, &sink->latency[i]);
}
