/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sink: where its program sits, and what it has counted. */
#include "load/frames_sink.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <endian.h>
#include <errno.h>
#include <linux/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/now.h"
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

/* A buffer that rides out a descheduled reader for a while. */
#define READER_RCVBUF (8 << 20)

/* A frame up to here is in one piece. */
#define LINEAR_BYTES 2048

enum { PASSES_MAX = 2 };

/* What a reader counts into; the runner reads it too. */
struct reader_memory {
	struct sink_count count;
	struct hist latency;
	struct sink_stream streams[FRAMES_STREAMS];
	__u64 last[];
};

struct frames_sink {
	struct lab *lab;
	enum frames_place place;
	char text[48];
	struct sink_bpf *skel; /* also for a reader, where programs may be loaded: for its passes */
	struct bpf_link *link;
	struct bpf_link *passes[PASSES_MAX];
	size_t n_passes;
	int fd, own_fd; /* own_fd -1: none, or the lab's */
	struct reader_memory *memory;
	size_t memory_size;
	struct sink_config config;
	struct hist *latency; /* of the program */
	size_t n_latency, latency_size;
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

static uint32_t configure(const struct frames_sink_options *o, enum frames_place place,
			  struct sink_config *config)
{
	const struct frames_shape *shape = &o->look->shape;
	const uint16_t tag = o->vlan ? 4 : 0;
	const uint32_t flows = flow_memory(o->look, config->flows);

	config->n_streams = (uint32_t)o->look->n_streams;
	config->port = htons(o->port);
	if (!shape->v6)
		memcpy(&config->address, o->look->frame + shape->l3 + 16, sizeof(config->address));
	config->l4 = shape->l4 - tag;
	config->payload = shape->payload - tag;
	config->v6 = shape->v6;
	config->tcp = shape->tcp;
	config->vlan = o->vlan;
	config->concurrent = o->concurrent || place == FRAMES_AT_SOCKET;
	config->many_flows = shape->many_flows;
	/* A long one may come in fragments, and a tag may have been taken off. */
	if (o->look->n_sizes == 1 && !o->vlan && o->look->longest < LINEAR_BYTES)
		config->bytes = o->look->longest;
	config->plain = !config->v6 && !config->tcp && !config->vlan && !config->many_flows &&
			!config->concurrent;
	config->skip = shape->tcp && !shape->v6 ? sizeof(struct iphdr) : 0;
	return shape->many_flows ? flows : 1;
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

static int load(struct frames_sink *sink, const struct frames_sink_options *o, struct err *err)
{
	const uint32_t flows = configure(o, sink->place, &sink->config);
	struct sink_bpf *skel = sink->skel = sink_bpf__open();
	int r;

	if (!skel)
		return err_sys(err, errno, "cannot open the sink program");
	memcpy((void *)&skel->rodata->config, &sink->config, sizeof(sink->config));
	bpf_map__set_max_entries(skel->maps.last, flows);
	if (sink->config.concurrent)
		bpf_map__set_max_entries(skel->maps.latency, (uint32_t)libbpf_num_possible_cpus());
	bpf_program__set_autoload(skel->progs.sink_xdp, sink->place == FRAMES_AT_XDP);
	bpf_program__set_autoload(skel->progs.sink_socket, sink->place == FRAMES_AT_SOCKET);
	r = sink_bpf__load(skel);
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

/* For a reader, which has no program of its own. */
static int load_pass(struct frames_sink *sink, struct err *err)
{
	int r;

	sink->skel = sink_bpf__open();
	if (!sink->skel)
		return err_sys(err, errno, "cannot open the sink program");
	bpf_program__set_autoload(sink->skel->progs.sink_xdp, false);
	bpf_program__set_autoload(sink->skel->progs.sink_socket, false);
	r = sink_bpf__load(sink->skel);
	return r ? err_sys(err, r, "cannot load a program that passes frames") : 0;
}

int frames_sink_pass(struct frames_sink *sink, size_t node, int ifindex, struct err *err)
{
	int r;

	if (sink->n_passes == PASSES_MAX)
		return err_set(err, EINVAL, "too many devices");
	r = sink->skel ? 0 : load_pass(sink, err);
	if (r)
		return r;
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
	int r = load(sink, o, err);

	if (!r)
		r = attach_xdp(o->lab, o->node, sink->skel->progs.sink_xdp, o->path->in_ifindex,
			       &sink->link, err);
	if (!r)
		snprintf(sink->text, sizeof(sink->text), "XDP at %s",
			 wire->end[!o->path->last_side].ifname);
	return r;
}

/* UDP on the port of the test frames; for TCP a raw socket, which gets copies of what local TCP gets. */
static int make_socket(struct frames_sink *sink, const struct frames_sink_options *o,
		       struct err *err)
{
	const bool v6 = o->look->shape.v6, tcp = o->look->shape.tcp;
	sink->own_fd = sink->fd =
		lab_socket(o->lab, o->node, v6 ? AF_INET6 : AF_INET, tcp ? SOCK_RAW : SOCK_DGRAM,
			   tcp ? IPPROTO_TCP : 0, err);
	return sink->fd < 0 ? sink->fd : 0;
}

static int bind_socket(const struct frames_sink *sink, const struct frames_sink_options *o,
		       struct err *err)
{
	const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(o->port)};
	const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons(o->port)};
	int r;

	if (o->look->shape.tcp)
		return 0;
	r = o->look->shape.v6 ? bind(sink->fd, (const struct sockaddr *)&any6, sizeof(any6))
			      : bind(sink->fd, (const struct sockaddr *)&any, sizeof(any));
	return r ? err_sys(err, errno, "cannot bind the sink to port %u", o->port) : 0;
}

/* The filter counts and lets nothing in. */
static int open_socket(struct frames_sink *sink, const struct frames_sink_options *o,
		       struct err *err)
{
	int r = load(sink, o, err), program;

	if (!r)
		r = make_socket(sink, o, err);
	if (r)
		return r;
	program = bpf_program__fd(sink->skel->progs.sink_socket);
	if (setsockopt(sink->fd, SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof(program)))
		return err_sys(err, errno, "cannot attach the sink to a socket");
	snprintf(sink->text, sizeof(sink->text), "a socket filter");
	return bind_socket(sink, o, err);
}

static int open_reader(struct frames_sink *sink, const struct frames_sink_options *o,
		       struct err *err)
{
	const uint32_t flows = configure(o, sink->place, &sink->config);
	const int bytes = READER_RCVBUF / 2; /* the kernel doubles it: socket(7) */
	int r = 0;

	if (o->look->shape.tcp)
		return err_set(err, EOPNOTSUPP, "proto: only UDP can be read from a socket");
	sink->memory_size = sizeof(*sink->memory) + flows * sizeof(uint64_t);
	sink->memory = mmap(NULL, sink->memory_size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (sink->memory == MAP_FAILED) {
		sink->memory = NULL;
		return err_sys(err, ENOMEM, "cannot share the sink with its lane");
	}
	snprintf(sink->text, sizeof(sink->text), "a reader of the socket");
	sink->fd = o->reader_fd;
	if (sink->fd >= 0)
		return 0;
	r = make_socket(sink, o, err);
	if (!r && setsockopt(sink->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(sink->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return r ? r : bind_socket(sink, o, err);
}

int frames_sink_open(const struct frames_sink_options *options, enum frames_place place,
		     struct frames_sink **ret, struct err *err)
{
	static int (*const open[])(struct frames_sink *, const struct frames_sink_options *,
				   struct err *) = {open_xdp, open_socket, open_reader};
	struct frames_sink *sink = calloc(1, sizeof(*sink));
	int r;

	if (!sink)
		return err_sys(err, ENOMEM, "cannot allocate a sink");
	sink->lab = options->lab;
	sink->place = place;
	sink->fd = sink->own_fd = -1;
	r = open[place](sink, options, err);
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
	if (sink->own_fd >= 0)
		close(sink->own_fd);
	if (sink->latency)
		munmap(sink->latency, sink->latency_size);
	if (sink->memory)
		munmap(sink->memory, sink->memory_size);
	sink_bpf__destroy(sink->skel);
	free(sink);
}

enum frames_place frames_sink_place(const struct frames_sink *sink)
{
	return sink->place;
}

const char *frames_sink_text(const struct frames_sink *sink)
{
	return sink->text;
}

int frames_sink_fd(const struct frames_sink *sink)
{
	return sink->fd;
}

void frames_sink_take(struct frames_sink *sink, const struct frames_payload *payload, size_t len)
{
	struct reader_memory *memory = sink->memory;
	const struct frames_payload p = *payload;
	const uint64_t seq = be64toh(p.seq), ns = be64toh(p.ns);
	const uint16_t label = ntohs(p.stream), number = label & (uint16_t)~FRAMES_MEASURED;
	struct sink_memory m = {.count = &memory->count};

	if (number >= sink->config.n_streams) {
		memory->count.unknown++;
		return;
	}
	m.stream = &memory->streams[number];
	if (sink->config.many_flows)
		m.last = &memory->last[sink->config.flows[number].first +
				       frames_flow(&sink->config.flows[number], seq)];
	if (sink->config.bytes && len + sink->config.payload != sink->config.bytes)
		memory->count.odd++;
	if (sink_take(&m, seq, label >> 15, 0) && ns && (label & FRAMES_MEASURED)) {
		const uint64_t now = now_ns();

		hist_add(&memory->latency, now > ns ? now - ns : 0);
	}
}

void frames_sink_read(const struct frames_sink *sink, struct sink_count *ret)
{
	const volatile struct sink_count *counts =
		sink->memory ? &sink->memory->count : sink->skel->bss->counts;
	const size_t n = sink->memory ? 1 : SINK_CPUS;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		ret->fresh[0] += counts[i].fresh[0];
		ret->fresh[1] += counts[i].fresh[1];
		ret->duplicates += counts[i].duplicates;
		ret->ancient += counts[i].ancient;
		ret->reordered += counts[i].reordered;
		ret->gaps += counts[i].gaps;
		ret->unknown += counts[i].unknown;
		ret->odd += counts[i].odd;
	}
}

void frames_sink_latency(const struct frames_sink *sink, struct hist *into)
{
	if (sink->memory)
		hist_merge(into, &sink->memory->latency);
	for (size_t i = 0; i < sink->n_latency; i++)
		hist_merge(into, &sink->latency[i]);
}
