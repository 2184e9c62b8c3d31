/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search for the highest rate that meets a goal: MLRsearch (RFC 9971). It asks a callback how
 * much is lost at a load and knows nothing of networks. Given the same answers it does the same.
 *
 * A trial at full speed finds the highest load there is (the generator's, unless the user names
 * one); the rates that were forwarded then are the first candidates. Goals with lower loads come
 * first, each by way of coarser targets: expansion until it has both bounds, then bisection in log
 * space down to the width.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "search/goal.h"

enum search_preset { SEARCH_QUICK, SEARCH_CSIT, SEARCH_RFC2544, SEARCH_TST009 };
/* Bits of search_cfg.goals and .also. */
enum search_standard { SEARCH_NDR = 1, SEARCH_PDR = 2 };
enum search_also { SEARCH_LOSS_CURVE = 1, SEARCH_BACK_TO_BACK = 2, SEARCH_LATENCY = 4 };

struct search_cfg {
	int preset;
	uint64_t goals;		   /* enum search_standard */
	char *own;		   /* further goals, see search_goals() */
	uint64_t final_ns, sum_ns; /* 0: those of the preset */
	double width;		   /* 0: that of the preset */
	struct rate min, max;	   /* packet/s; RATE_MAX: as fast as the generator goes */
	uint64_t also;		   /* enum search_also */
	uint64_t bursts;	   /* of the back-to-back test */
	uint64_t cap_ns;	   /* 0: that of the preset */
};
extern const struct opt search_opts[];

/* -EINVAL when the options contradict each other, or an own goal cannot be read. */
int search_check(const struct search_cfg *cfg, struct err *err);
/*
 * The goals of a config, in the order in which they are searched: low loads, thus strict goals,
 * first. `own` is "NAME:loss=0.1%,exceed=50%,final=1s,sum=10s,width=1%", each key at most once and
 * what is left out as in the preset; several one after the other, with a comma between.
 */
enum { SEARCH_GOALS_MAX = 16 };
int search_goals(const struct search_cfg *cfg, struct goal ret[SEARCH_GOALS_MAX], size_t *ret_n,
		 struct err *err);
/* The longest that a search may take, in ns of trials. */
uint64_t search_cap_ns(const struct search_cfg *cfg);

/* What a trial at a load has shown. */
struct search_sample {
	double offered_pps;   /* packets that left, of all that were asked for */
	double forwarded_pps; /* packets that arrived */
	double loss_ratio;    /* (lost + unsent) / the larger of asked and offered */
	double unsent_ratio;  /* the part of it that the generator failed to send */
	double effective_s;   /* how long it was offered: what counts towards a goal's durations */
	double spent_s;	      /* on the whole trial: what counts towards the cap */
};

/* pps is INFINITY for "as fast as it goes". Errors end the search. */
struct search_probe {
	int (*measure)(void *context, double pps, double duration_s, struct search_sample *ret,
		       struct err *err);
	void *context;
};

enum search_end {
	SEARCH_DONE, /* every goal has its bounds within the width, or is at an end of the range */
	SEARCH_CAPPED,	/* the time was up first */
	SEARCH_TOO_MANY /* SEARCH_TRIALS_MAX */
};

struct search_found {
	struct goal goal;
	/* Loads in packet/s. NaN: there is no such bound (nothing passed, or everything did). */
	double lower, upper;
	double throughput;    /* conditional throughput at the lower bound; NaN without one */
	bool at_max;	      /* the highest load is the lower bound */
	bool below_min;	      /* even the lowest load is an upper bound */
	bool generator_limit; /* what failed at the upper bound is the generator alone */
};

enum { SEARCH_TRIALS_MAX = 4096 };

struct search_outcome {
	enum search_end end;
	double max_pps; /* the highest load, as named or as found */
	double spent_s;
	struct search_found *found;
	size_t n_found;
	struct attempt *attempts; /* in the order they were made */
	size_t n_attempts;
};

/*
 * On failure the outcome holds what was found until then; release it in any case. The callback's
 * errors are passed on as they are.
 */
int search_run(const struct search_cfg *cfg, const struct search_probe *probe,
	       struct search_outcome *ret, struct err *err);
void search_outcome_release(struct search_outcome *outcome);

#endif
