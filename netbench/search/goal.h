/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A goal of a search, and what trials at one load say about it (RFC 9971, "load classification"
 * and "conditional throughput"). Plain arithmetic.
 */
#ifndef SEARCH_GOAL_H
#define SEARCH_GOAL_H

#include <stddef.h>

enum { GOAL_NAME_MAX = 32 };

struct goal {
	char name[GOAL_NAME_MAX];
	double loss_ratio;   /* a trial that loses more is a bad one */
	double exceed_ratio; /* share of bad trials, by duration, that is tolerated */
	double width;	     /* of the interval between the bounds, relative to the upper */
	double final_s;	     /* trials as long as this count in full */
	double sum_s;	     /* of the durations that make a verdict */
};

/* One trial at one load. */
struct attempt {
	double load;	    /* packet/s */
	double duration_s;  /* asked for: decides whether it is full-length */
	double effective_s; /* what it weighs */
	double loss_ratio, unsent_ratio;
};

enum bound { BOUND_NONE, BOUND_LOWER, BOUND_UPPER };

/* The share of bad time that is left when all trials to come go well, and when all go badly. */
struct verdict {
	double optimistic, pessimistic;
	enum bound bound;
};

/* From the attempts at exactly this load. */
struct verdict goal_judge(const struct goal *goal, const struct attempt *attempts, size_t n,
			  double load);
/* What was forwarded of this load in the trial at the goal's quantile; 0 when it is not covered. */
double goal_throughput(const struct goal *goal, const struct attempt *attempts, size_t n,
		       double load);

/*
 * The relevant bounds: the smallest load that is an upper bound, and the largest lower bound below
 * it. NaN: there is none. Loads that are not there for the goal are ignored.
 */
struct bounds {
	double lower, upper;
};
struct bounds goal_bounds(const struct goal *goal, const struct attempt *attempts, size_t n);

#endif
