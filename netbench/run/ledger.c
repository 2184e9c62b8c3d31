/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns packet conservation: reading the counters and putting every lost packet down to one of them. */
#include "run/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/lane.h"
#include "result/result.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

struct ledger_snap {
	struct link_counters (*links)[2]; /* as route->links, per side */
	struct node_counters *nodes;	  /* as route->nodes */
	struct filter_counters *filters;  /* as lab_spec->filters; zero for those off the route */
};

void ledger_snap_free(struct ledger_snap *snap)
{
	if (!snap)
		return;
	free(snap->links);
	free(snap->nodes);
	free(snap->filters);
	free(snap);
}

int ledger_snap(struct lab *lab, const struct route *route, struct ledger_snap **ret,
		struct err *err)
{
	struct ledger_snap *snap = calloc(1, sizeof(*snap));
	int r = 0;

	if (!snap)
		return err_sys(err, ENOMEM, "cannot keep counters");
	snap->links = calloc(route->n_links + 1, sizeof(*snap->links));
	snap->nodes = calloc(route->n_nodes + 1, sizeof(*snap->nodes));
	snap->filters = calloc(lab_spec(lab)->n_filters + 1, sizeof(*snap->filters));
	if (!snap->links || !snap->nodes || !snap->filters)
		r = err_sys(err, ENOMEM, "cannot keep counters");
	for (size_t i = 0; !r && i < route->n_links; i++)
		for (unsigned int side = 0; !r && side < 2; side++)
			r = lab_link_counters(lab, route->links[i], side, &snap->links[i][side],
					      err);
	for (size_t i = 0; !r && i < route->n_nodes; i++)
		r = lab_node_counters(lab, route->nodes[i], &snap->nodes[i], err);
	for (size_t i = 0; !r && i < lab_spec(lab)->n_filters; i++)
		if (route_filter_node(route, lab, i) >= 0)
			r = lab_filter_counters(lab, i, &snap->filters[i], err);
	if (r) {
		ledger_snap_free(snap);
		return r;
	}
	*ret = snap;
	return 0;
}

uint64_t ledger_link_bytes(const struct ledger_snap *before, const struct ledger_snap *after,
			   size_t i)
{
	return after->links[i][0].rx_bytes - before->links[i][0].rx_bytes +
	       after->links[i][1].rx_bytes - before->links[i][1].rx_bytes;
}

uint64_t ledger_link_packets(const struct ledger_snap *before, const struct ledger_snap *after,
			     size_t i)
{
	return after->links[i][0].rx_packets - before->links[i][0].rx_packets +
	       after->links[i][1].rx_packets - before->links[i][1].rx_packets;
}

const struct node_counters *ledger_node(const struct ledger_snap *snap, const struct route *route,
					size_t node)
{
	for (size_t i = 0; i < route->n_nodes; i++)
		if (route->nodes[i] == node)
			return &snap->nodes[i];
	return NULL;
}

bool ledger_filter_exact(const struct ledger_snap *snap, size_t filter)
{
	return snap->filters[filter].exact;
}

uint64_t ledger_filter_matched(const struct ledger_snap *before, const struct ledger_snap *after,
			       size_t filter)
{
	return after->filters[filter].matched - before->filters[filter].matched;
}

uint64_t ledger_filter_dropped(const struct ledger_snap *before, const struct ledger_snap *after,
			       size_t filter)
{
	return after->filters[filter].dropped - before->filters[filter].dropped;
}

int64_t ledger_attribute(uint64_t lost, struct named_drop *drops, size_t n)
{
	uint64_t left = lost;

	for (size_t i = 0; i < n; i++) {
		drops[i].count = drops[i].min < left ? drops[i].min : left;
		left -= drops[i].count;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t more = drops[i].max - drops[i].count;

		/* Only those whose min fitted can stand for more. */
		if (drops[i].count < drops[i].min)
			break;
		more = more < left ? more : left;
		drops[i].count += more;
		left -= more;
	}
	if (left)
		return (int64_t)left;
	for (size_t i = 0; i < n; i++)
		if (drops[i].count < drops[i].min) {
			left += drops[i].min - drops[i].count;
			drops[i].count = drops[i].min;
		}
	return -(int64_t)left;
}

enum { DROPS_MAX = 1024 };

struct drop_list {
	struct named_drop *drops;
	size_t n;
	uint64_t per_frame; /* packets one dropped frame may have carried */
	bool shared;	    /* other traffic may have caused these too: min is 0 */
};

static void add_drop(struct drop_list *list, uint64_t frames, const char *what, const char *where)
{
	struct named_drop *drop;

	if (!frames || list->n == DROPS_MAX)
		return;
	drop = &list->drops[list->n++];
	snprintf(drop->name, sizeof(drop->name), "%s %s", what, where);
	drop->min = list->shared ? 0 : frames;
	drop->max = frames * list->per_frame;
}

/*
 * A frame that a veth end could not hand over counts as tx_dropped there; if that was because the
 * receiving CPU's backlog was full, also as rx_dropped at the other end (drivers/net/veth.c,
 * net/core/dev.c). One packet, one entry.
 */
static void link_drops(struct drop_list *list, const char *name, const struct link_counters *before,
		       const struct link_counters *after)
{
	for (unsigned int side = 0; side < 2; side++) {
		const uint64_t tx = after[side].tx_dropped - before[side].tx_dropped;
		const uint64_t rx = after[!side].rx_dropped - before[!side].rx_dropped;
		const uint64_t both = tx < rx ? tx : rx;

		add_drop(list, after[side].qdisc_dropped - before[side].qdisc_dropped, "qdisc",
			 name);
		add_drop(list, both, "backlog", name);
		add_drop(list, tx - both, "link", name);
		add_drop(list, rx - both, "receive", name);
	}
}

static void node_drops(struct drop_list *list, const char *name, const struct node_counters *before,
		       const struct node_counters *after)
{
#define DROP(field, what) add_drop(list, after->field - before->field, what, name)
	DROP(ip_in_discards, "ip discards");
	DROP(ip_out_discards, "ip output discards");
	DROP(ip_in_hdr_errors, "ip header errors");
	DROP(ip_in_addr_errors, "ip address errors");
	DROP(ip_in_unknown_protos, "unknown protocol");
	DROP(ip_reasm_fails, "reassembly");
	DROP(ip_frag_fails, "fragmentation");
	DROP(udp_no_ports, "no socket");
	DROP(udp_csum_errors, "checksum");
	DROP(udp_mem_errors, "memory");
	DROP(ct_drop, "conntrack");
#undef DROP
}

/*
 * Counters that also count what nobody sent: a new flow that lost a race for its entry may be merged with
 * the winner, and what finds no route may be the answer to a packet.
 */
static void unsure_drops(struct drop_list *list, const char *name,
			 const struct node_counters *before, const struct node_counters *after)
{
	const bool shared = list->shared;

	list->shared = true;
	add_drop(list, after->ct_insert_failed - before->ct_insert_failed, "conntrack race", name);
	add_drop(list, after->ip_out_no_routes - before->ip_out_no_routes, "no route", name);
	list->shared = shared;
}

/* What came into a node and did not leave it, by the links of the route. */
static uint64_t kept_by(const struct lab *lab, const struct route *route,
			const struct ledger_snap *before, const struct ledger_snap *after,
			size_t node)
{
	uint64_t in = 0, out = 0;

	for (size_t i = 0; i < route->n_links; i++)
		for (unsigned int side = 0; side < 2; side++) {
			const struct wire *wire = lab_plan_wire(lab_plan(lab), route->links[i]);
			const struct link_counters *was = &before->links[i][side];
			const struct link_counters *is = &after->links[i][side];

			if (wire->end[side].node != node)
				continue;
			in += is->rx_packets - was->rx_packets;
			out += is->tx_packets - was->tx_packets;
		}
	return in > out ? in - out : 0;
}

struct books {
	struct account sum;
	uint64_t socket_min, socket_max;
	bool exclusive; /* all traffic of the trial is numbered: every drop is one of ours */
	bool injected;	/* packets appear behind the first link's counters */
};

/*
 * A stage of ours counts what it drops. A user's own rules need not: the packets that ended in their
 * node, counted by nobody else, are put down to them, by difference.
 */
static void filter_drops(struct lab *lab, const struct route *route,
			 const struct ledger_snap *before, const struct ledger_snap *after,
			 const struct books *books, bool exact, struct drop_list *list)
{
	const bool shared = list->shared;

	list->shared |= !exact;
	for (size_t i = 0; i < lab_spec(lab)->n_filters; i++) {
		const struct filter *filter = filter_of(&lab_spec(lab)->filters[i]);
		const int node = route_filter_node(route, lab, i);
		uint64_t dropped;
		char name[64];

		if (node < 0 || after->filters[i].exact != exact)
			continue;
		if (exact)
			dropped = ledger_filter_dropped(before, after, i);
		else if (books->injected)
			dropped = books->sum.sent;
		else
			dropped = kept_by(lab, route, before, after, (size_t)node);
		snprintf(name, sizeof(name), "%s%s", filter->kind.name,
			 exact ? "" : " (by difference)");
		add_drop(list, dropped, name, lab_spec(lab)->nodes[node].name);
	}
	list->shared = shared;
}

static int add_account(struct load_run *run, struct books *books, struct err *err)
{
	struct account account = {.packets_per_buffer = 1, .packets_per_frame = 1};
	int r;

	if (!run->load->traffic)
		return 0;
	if (!run->load->account) {
		books->exclusive = false;
		return 0;
	}
	r = run->load->account(run, &account, err);
	if (r)
		return r;
	books->injected |= run->injected;
	books->sum.present = true;
	books->sum.sent += account.sent;
	books->sum.delivered += account.delivered;
	books->sum.duplicates += account.duplicates;
	books->sum.fragmented |= account.fragmented;
	books->socket_min += account.socket_drops;
	books->socket_max += account.socket_drops * account.packets_per_buffer;
	if (account.packets_per_frame > books->sum.packets_per_frame)
		books->sum.packets_per_frame = account.packets_per_frame;
	return 0;
}

static void list_drops(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		       const struct ledger_snap *after, const struct books *books,
		       struct drop_list *list)
{
	if (books->socket_max)
		list->drops[list->n++] = (struct named_drop){.name = "socket buffer",
							     .min = books->socket_min,
							     .max = books->socket_max};
	list->per_frame = books->sum.packets_per_frame;
	/* Fragments are counted where they are dropped, and again as one failed reassembly. */
	list->shared = !books->exclusive || books->sum.fragmented;
	filter_drops(lab, route, before, after, books, true, list);
	for (size_t i = 0; i < route->n_nodes; i++) {
		const char *name = lab_spec(lab)->nodes[route->nodes[i]].name;

		node_drops(list, name, &before->nodes[i], &after->nodes[i]);
		unsure_drops(list, name, &before->nodes[i], &after->nodes[i]);
	}
	for (size_t i = 0; i < route->n_links; i++)
		link_drops(list, lab_plan_wire(lab_plan(lab), route->links[i])->name,
			   before->links[i], after->links[i]);
	filter_drops(lab, route, before, after, books, false, list);
}

static int enter_case(struct result_case *c, const struct books *books,
		      const struct drop_list *list, int64_t residual)
{
	int r = 0;

	c->ledger.present = true;
	c->ledger.sent += books->sum.sent;
	c->ledger.delivered += books->sum.delivered;
	c->ledger.duplicates += books->sum.duplicates;
	c->ledger.residual += residual;
	c->ledger.trials++;
	c->ledger.trials_closed += residual == 0;
	for (size_t i = 0; !r && i < list->n; i++)
		r = list->drops[i].count
			    ? case_add_drop(c, list->drops[i].name, list->drops[i].count)
			    : 0;
	if (residual > 0)
		case_worsen(c, CASE_VOID,
			    "%" PRId64 " of %" PRIu64 " packets vanished without a trace", residual,
			    books->sum.sent);
	else if (residual < 0)
		case_worsen(c, CASE_VOID,
			    "%" PRId64 " more packets came or were dropped than were sent",
			    -residual);
	return r;
}

int ledger_close(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		 const struct ledger_snap *after, struct load_run *runs, size_t n_runs,
		 struct result_case *c, struct err *err)
{
	struct books books = {.exclusive = true, .sum.packets_per_frame = 1};
	struct drop_list list = {0};
	int64_t residual;
	int r = 0;

	for (size_t i = 0; !r && i < n_runs; i++)
		r = add_account(&runs[i], &books, err);
	if (r || !books.sum.present)
		return r;
	list.drops = calloc(DROPS_MAX + 1, sizeof(*list.drops));
	if (!list.drops)
		return err_sys(err, ENOMEM, "cannot keep the ledger");
	list_drops(lab, route, before, after, &books, &list);
	if (books.sum.delivered > books.sum.sent)
		residual = -(int64_t)(books.sum.delivered - books.sum.sent);
	else
		residual =
			ledger_attribute(books.sum.sent - books.sum.delivered, list.drops, list.n);
	r = enter_case(c, &books, &list, residual);
	free(list.drops);
	return r ? err_sys(err, r, "cannot keep the ledger") : 0;
}
