/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the filters on the way of the frames do to them: found once, read at the edges of the window. */
#include <errno.h>
#include <stdlib.h>

#include "load/frames.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

static bool on_way(const struct load_run *run, const struct hop *hops, int n, size_t node)
{
	bool found = false;

	for (int i = 0; i < n; i++)
		for (int side = 0; side < 2; side++)
			found |= lab_plan_wire(lab_plan(run->lab), hops[i].link)->end[side].node ==
				 node;
	return found;
}

int frames_filters_find(struct load_run *run, struct err *err)
{
	struct frames_state *state = run->state;
	const struct lab_spec *spec = lab_spec(run->lab);
	struct hop *hops;
	int n = lab_plan_path(lab_plan(run->lab), run->from, run->to, &hops, err), r = 0;

	if (n < 0)
		return n;
	state->socket_filter = SIZE_MAX;
	state->filters = calloc(spec->n_filters + 1, sizeof(*state->filters));
	if (!state->filters)
		r = err_sys(err, ENOMEM, "cannot list the filters on the way");
	for (size_t i = 0; !r && i < spec->n_filters; i++) {
		const int node = lab_plan_filter_node(lab_plan(run->lab), i, err);

		if (node < 0) {
			r = node;
		} else if (spec->filters[i].stage && on_way(run, hops, n, (size_t)node)) {
			state->filters[state->n_filters++] = i;
			if ((size_t)node == run->to && lab_filter_socket(run->lab, i) >= 0)
				state->socket_filter = i;
		}
	}
	free(hops);
	return r;
}

void frames_filters_read(const struct load_run *run, struct frames_mark *ret)
{
	const struct frames_state *state = run->state;

	*ret = (struct frames_mark){.ns = now_ns()};
	for (size_t i = 0; i < state->n_filters; i++) {
		struct filter_counters counters = {0};
		const int r = lab_filter_counters(run->lab, state->filters[i], &counters, NULL);

		ret->failed = r ? r : ret->failed;
		ret->dropped += counters.exact ? counters.dropped : 0;
	}
}

bool frames_filters_drop(const struct load_run *run)
{
	const struct frames_state *state = run->state;
	bool found = false;

	for (size_t i = 0; i < state->n_filters; i++) {
		const struct filter_spec *spec = &lab_spec(run->lab)->filters[state->filters[i]];
		struct filter_counters counters = {0};

		found |= filter_of(spec)->read &&
			 (spec->action == FILTER_DROP || spec->action == FILTER_REJECT) &&
			 spec->hit != FILTER_NEVER && spec->rules &&
			 !lab_filter_counters(run->lab, state->filters[i], &counters, NULL) &&
			 counters.exact;
	}
	return found;
}
