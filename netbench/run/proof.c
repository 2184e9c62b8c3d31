/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the evidence that a trial's traffic crossed what was under test, in the form that is claimed. */
#include "run/proof.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/lane.h"
#include "result/result.h"
#include "run/crew.h"
#include "run/ledger.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

#define LOOK_NS UINT64_C(20000000)

/* "tx off, rx off, …"; returns false when a feature is not as wanted. */
static bool describe(const struct offload_state *states, char *buf, size_t len)
{
	bool ok = true;
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < OFFLOADS && at < len; i++) {
		const struct offload_state *s = &states[i];
		int n = snprintf(buf + at, len - at, "%s%s %s%s", i ? ", " : "", s->name,
				 !s->known ? "absent"
				 : s->on   ? "on"
					   : "off",
				 s->known && s->on != s->wanted ? " (not as asked)" : "");

		at += n > 0 ? (size_t)n : 0;
		/* A feature the device does not have cannot be on. */
		ok &= s->known ? s->on == s->wanted : true;
	}
	return ok;
}

int proof_offloads(struct lab *lab, const struct route *route, struct result_case *c,
		   struct err *err)
{
	struct offload_state states[OFFLOADS];
	char detail[256], what[128];
	int r = 0;

	for (size_t i = 0; !r && i < route->n_links; i++) {
		const struct wire *wire = lab_plan_wire(lab_plan(lab), route->links[i]);

		for (unsigned int side = 0; !r && side < 2; side++) {
			bool ok;

			r = lab_offloads(lab, route->links[i], side, states, err);
			if (r)
				return r;
			ok = describe(states, detail, sizeof(detail));
			snprintf(what, sizeof(what), "offloads of %s:%s",
				 lab_spec(lab)->nodes[wire->end[side].node].name,
				 wire->end[side].ifname);
			r = findings_add(&c->proofs, ok, what, "%s", detail);
			if (!ok)
				case_worsen(c, CASE_VOID, "%s: %s", what, detail);
		}
	}
	return r ? err_sys(err, r, "cannot keep a proof") : 0;
}

static int tap_end(struct lab *lab, size_t from, size_t to, struct taps *taps, struct err *err)
{
	struct hop *hops;
	struct hop last;
	int n = lab_plan_path(lab_plan(lab), from, to, &hops, err);
	int r;

	if (n <= 0)
		return n;
	last = hops[n - 1];
	free(hops);
	r = tap_open(lab, last.link, !last.side, &taps->list[taps->n], err);
	if (r)
		return r;
	taps->mtu[taps->n++] = lab_spec(lab)->links[last.link].mtu;
	return 0;
}

int taps_open(struct lab *lab, const struct load_run *main, struct taps *ret, struct err *err)
{
	bool to = false, from = false;
	int r = 0;

	*ret = (struct taps){0};
	if (!main->load->traffic)
		return 0;
	for (size_t i = 0; i < main->n_lanes; i++) {
		to |= main->lanes[i].receives && main->lanes[i].node == main->to;
		from |= main->lanes[i].receives && main->lanes[i].node == main->from;
	}
	if (to)
		r = tap_end(lab, main->from, main->to, ret, err);
	if (!r && from)
		r = tap_end(lab, main->to, main->from, ret, err);
	if (r)
		taps_close(ret);
	return r;
}

void taps_close(struct taps *taps)
{
	for (size_t i = 0; i < taps->n; i++)
		tap_close(&taps->list[i]);
}

int taps_watch(struct taps *taps, struct crew *crew, uint64_t until_ns, struct err *err)
{
	int r = 0;

	while (!r && taps->n && now_ns() + LOOK_NS < until_ns) {
		r = crew_watch(crew, now_ns() + LOOK_NS, err);
		for (size_t i = 0; i < taps->n; i++)
			tap_look(&taps->list[i]);
	}
	return r ? r : crew_watch(crew, until_ns, err);
}

/* No link on the way may join or split packets. */
static bool offloads_off(const struct lab *lab, const struct route *route)
{
	for (size_t i = 0; i < route->n_links; i++)
		if (lab_spec(lab)->links[route->links[i]].offloads)
			return false;
	return true;
}

int proof_frames(const struct taps *taps, const struct lab *lab, const struct route *route,
		 struct result_case *c)
{
	const bool off = offloads_off(lab, route);
	int r = 0;

	for (size_t i = 0; !r && i < taps->n; i++) {
		const uint32_t largest = taps->list[i].largest;
		const uint64_t limit = taps->mtu[i] + ETH_HLEN;
		const bool fits = largest <= limit;

		if (!largest) /* a warm-up too short to see a frame proves nothing */
			continue;
		if (!fits && !off)
			r = case_set_remark(c,
					    "super-packets of up to %" PRIu32
					    " bytes: not a rate of any wire",
					    largest);
		if (!r)
			r = findings_add(&c->proofs, fits || !off, "largest frame received",
					 "%" PRIu32 " bytes, MTU and header make %" PRIu64, largest,
					 limit);
		if (!fits && off)
			case_worsen(
				c, CASE_VOID,
				"a frame of %" PRIu32
				" bytes came though offloads are off and the link carries %" PRIu64,
				largest, limit);
	}
	return r;
}

static bool crosses(const struct lab *lab, const struct load_run *run, size_t link)
{
	struct hop *hops;
	bool found = false;
	int n = lab_plan_path(lab_plan(lab), run->from, run->to, &hops, NULL);

	if (n < 0)
		return false;
	for (int i = run->injected ? 1 : 0; i < n; i++)
		found |= hops[i].link == link;
	free(hops);
	return found;
}

/*
 * What the receivers of a run got, at least this much of it over every link on the way. Packets that a
 * load numbers came in so many frames; of the others, one frame may hold any number.
 */
static void received(struct load_run *run, uint64_t *bytes, uint64_t *frames)
{
	struct account account = {.packets_per_frame = 1};
	bool any = false;

	for (size_t i = 0; i < run->n_lanes; i++) {
		const struct lane *lane = &run->lanes[i];

		*bytes += lane->receives ? atomic_load(&lane->shared->bytes) : 0;
		any |= lane->receives && atomic_load(&lane->shared->packets) > 0;
	}
	if (run->load->account && !run->load->account(run, &account, NULL) && account.present)
		*frames += account.delivered / account.packets_per_frame;
	else
		*frames += any;
}

int proof_crossed(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		  const struct ledger_snap *after, struct load_run *runs, size_t n_runs,
		  struct result_case *c)
{
	char what[128];
	int r = 0;

	for (size_t i = 0; !r && i < route->n_links; i++) {
		const uint64_t bytes = ledger_link_bytes(before, after, i);
		const uint64_t frames = ledger_link_packets(before, after, i);
		uint64_t need_bytes = 0, need_frames = 0;
		bool ok;

		for (size_t k = 0; k < n_runs; k++)
			if (runs[k].load->traffic && crosses(lab, &runs[k], route->links[i]))
				received(&runs[k], &need_bytes, &need_frames);
		ok = bytes >= need_bytes && frames >= need_frames;
		snprintf(what, sizeof(what), "crossed %s",
			 lab_plan_wire(lab_plan(lab), route->links[i])->name);
		r = findings_add(&c->proofs, ok, what,
				 "%" PRIu64 " bytes in %" PRIu64 " frames on the link, %" PRIu64
				 " bytes of payload among them",
				 bytes, frames, need_bytes);
		if (!ok)
			case_worsen(c, CASE_VOID, "the traffic did not cross %s", what + 8);
	}
	return r;
}

/* Rules that the frames were to hit, and what these rules are said to do. */
static bool expects_hits(const struct filter_spec *spec)
{
	return !spec->object && spec->rules && spec->hit != FILTER_NEVER;
}

int proof_filters(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		  const struct ledger_snap *after, const struct load_run *runs, size_t n_runs,
		  struct result_case *c)
{
	bool frames = false;
	char what[128];
	int r = 0;

	for (size_t i = 0; i < n_runs; i++)
		frames |= runs[i].load->to_test_port;
	for (size_t i = 0; !r && i < lab_spec(lab)->n_filters; i++) {
		const struct filter_spec *spec = &lab_spec(lab)->filters[i];
		const uint64_t matched = ledger_filter_matched(before, after, i);
		const int node = route_filter_node(route, lab, i);
		bool ok;

		if (node < 0 || !filter_of(spec)->read || !ledger_filter_exact(after, i))
			continue;
		ok = matched || !frames || !expects_hits(spec);
		snprintf(what, sizeof(what), "filter %s at %s", filter_of(spec)->kind.name,
			 lab_spec(lab)->nodes[node].name);
		r = findings_add(&c->proofs, ok, what,
				 "%" PRIu64 " packets hit its rules, %" PRIu64 " dropped", matched,
				 ledger_filter_dropped(before, after, i));
		if (!ok)
			case_worsen(c, CASE_VOID, "no packet hit the rules of %s", what);
	}
	return r;
}
