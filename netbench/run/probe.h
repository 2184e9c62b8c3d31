/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a search asks a stand: how much of this load is lost? Every answer is a shot whose ledger
 * goes to the case, so a packet that vanished without a trace voids it.
 */
#ifndef RUN_PROBE_H
#define RUN_PROBE_H

#include <stdint.h>

#include "base/err.h"
#include "search/search.h"

struct opt;
struct result;
struct result_case;
struct shot;
struct stand;
struct trial_watch;
struct validity;

struct probe {
	const struct stand *stand;
	struct result_case *c;
	const struct trial_watch *watch;
	void *cfg;			/* of the main load, with a rate of ours */
	const struct opt *rate, *count; /* its options; count: NULL when it has none */
	double directions;		/* the rate is that of each */
	struct validity *validity;	/* begun with the first shot; may be NULL */
	struct result *figures;		/* of the last shot: one case */
	uint64_t begin_ns, shots, late_ns;
};

/* -EINVAL when the main load has no rate to search, or does not number its packets. */
int probe_open(struct probe *probe, const struct stand *stand, const struct trial_watch *watch,
	       struct result_case *c, struct err *err);
void probe_close(struct probe *probe);

/* For struct search_probe: context is the struct probe. */
int probe_measure(void *context, double pps, double duration_s, struct search_sample *ret,
		  struct err *err);
/* -EINVAL when the load has no option to send so many packets and no more. */
int probe_can_burst(const struct probe *probe, struct err *err);
/* Send `count` packets as fast as it goes. */
int probe_burst(struct probe *probe, uint64_t count, double duration_s, struct search_sample *ret,
		struct err *err);
/* What the load reported of the last shot; NaN when it did not report that. */
double probe_figure(const struct probe *probe, const char *metric);
/* The config for a trial at a load; valid until the next call. */
const void *probe_config(struct probe *probe, double pps);

#endif
