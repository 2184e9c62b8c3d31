/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the course of a search: which load to try next, for how long, and when to end. */
#include "search/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A first look takes no longer than this, however long the trials that count are. */
#define FIRST_S 1.0

enum { TARGETS = 3, FORWARDING_STEPS = 2, ENOUGH = 1 };

struct search {
	const struct search_probe *probe;
	struct search_outcome *out;
	double min, max; /* loads */
	double first_s, cap_s;
};

/* A goal, or a coarser one on the way to it, and where it is expected to be met. */
struct target {
	struct goal goal;
	double lower, upper; /* bounds of the coarser target; NaN: none */
	double step;	     /* of the expansion, in widths */
};

static struct attempt *room(struct search_outcome *out)
{
	const size_t n = out->n_attempts;
	struct attempt *grown;

	if (n & (n - 1))
		return &out->attempts[n];
	grown = reallocarray(out->attempts, n ? 2 * n : 1, sizeof(*grown));
	if (!grown)
		return NULL;
	out->attempts = grown;
	return &grown[n];
}

/* Returns 0, ENOUGH when the search must end instead (out->end says why), or an error. */
static int take(struct search *s, double load, double duration_s, struct search_sample *ret,
		struct err *err)
{
	int r;

	if (s->out->spent_s + duration_s > s->cap_s)
		s->out->end = SEARCH_CAPPED;
	else if (s->out->n_attempts == SEARCH_TRIALS_MAX)
		s->out->end = SEARCH_TOO_MANY;
	if (s->out->end != SEARCH_DONE)
		return ENOUGH;
	*ret = (struct search_sample){0};
	r = s->probe->measure(s->probe->context, load, duration_s, ret, err);
	s->out->spent_s += ret->spent_s;
	return r;
}

static int try_load(struct search *s, double load, double duration_s, struct search_sample *ret,
		    struct err *err)
{
	struct attempt *attempt = room(s->out);
	int r;

	if (!attempt)
		return err_sys(err, ENOMEM, "cannot keep a trial");
	r = take(s, load, duration_s, ret, err);
	if (r)
		return r;
	*attempt = (struct attempt){.load = load,
				    .duration_s = duration_s,
				    .effective_s = ret->effective_s,
				    .loss_ratio = ret->loss_ratio,
				    .unsent_ratio = ret->unsent_ratio};
	s->out->n_attempts++;
	return 0;
}

/* Loads are whole numbers: equal loads are the same load. */
static double clamp(const struct search *s, double load)
{
	return fmin(fmax(round(load), s->min), s->max);
}

/*
 * The first trial warms up and is forgotten, but for the highest rate if none was named. What came
 * through at the highest rate, and what comes through of that, are near where the goals are.
 */
static int look_around(struct search *s, const struct search_cfg *cfg, struct err *err)
{
	const bool named = cfg->max.unit == RATE_PPS;
	struct search_sample sample;
	double load, before = INFINITY;
	int r;

	s->max = named ? (double)cfg->max.value : INFINITY;
	r = take(s, s->max, s->first_s, &sample, err);
	if (r)
		return r;
	if (!named)
		s->max = fmax(floor(sample.offered_pps), s->min);
	s->out->max_pps = load = s->max;
	for (int i = 0; !r && i <= FORWARDING_STEPS && load < before; i++) {
		r = try_load(s, load, s->first_s, &sample, err);
		before = load;
		load = clamp(s, fmin(sample.forwarded_pps, load));
	}
	return r;
}

/* Evenly, in log space, from one value to the other. */
static double between(double from, double to, double share)
{
	return from * pow(to / from, share);
}

/*
 * The last target is the goal itself; those before have shorter sums and, in log space, twice and
 * four times the width, so that a bisection makes of one width the next.
 */
static struct goal coarser(const struct search *s, const struct goal *goal, int target)
{
	const double share = (double)target / (TARGETS - 1);
	struct goal ret = *goal;

	if (target == TARGETS - 1)
		return ret;
	ret.final_s = between(s->first_s, goal->final_s, share);
	ret.sum_s = between(s->first_s, goal->sum_s, share);
	ret.width = 1 - pow(1 - goal->width, 1 << (TARGETS - 1 - target));
	return ret;
}

/* To the whole packet per second. */
static bool narrow(const struct goal *goal, double lower, double upper)
{
	return upper - lower <= goal->width * upper + 1;
}

static struct bounds bounds_of(const struct search *s, const struct goal *goal)
{
	return goal_bounds(goal, s->out->attempts, s->out->n_attempts);
}

static bool settled(const struct search *s, const struct goal *goal, const struct bounds *b)
{
	if (isnan(b->upper))
		return b->lower >= s->max;
	if (isnan(b->lower))
		return b->upper <= s->min;
	return narrow(goal, b->lower, b->upper);
}

static double middle(const struct search *s, double lower, double upper)
{
	return clamp(s, sqrt(lower * upper));
}

static double expand(const struct search *s, struct target *t, double from, int direction)
{
	const double factor = pow(1 - t->goal.width, -direction * t->step);

	t->step *= 2;
	/* Rounded towards the known bound: the interval is no wider than the step. */
	return clamp(s, direction > 0 ? floor(from * factor) : ceil(from * factor));
}

/*
 * A load that no verdict is known of yet. The coarser target's interval is halved first: then only
 * one of its ends has to be confirmed. The first upper bound may be far off, while the lower one is
 * what was forwarded or what a stricter goal has found: so the way up is by growing steps until
 * halves are smaller.
 */
static double next_load(const struct search *s, struct target *t, const struct bounds *b)
{
	if (!isnan(b->lower) && !isnan(b->upper))
		return fmin(middle(s, b->lower, b->upper), expand(s, t, b->lower, 1));
	if (!isnan(b->lower))
		return t->upper > b->lower ? t->upper : expand(s, t, b->lower, 1);
	if (!isnan(b->upper))
		return t->lower < b->upper ? t->lower : expand(s, t, b->upper, -1);
	if (isnan(t->lower) || isnan(t->upper))
		return !isnan(t->lower) ? t->lower : !isnan(t->upper) ? t->upper : s->max;
	return narrow(&t->goal, t->lower, t->upper) ? t->lower : middle(s, t->lower, t->upper);
}

static int decide(struct search *s, const struct goal *goal, double load, struct err *err)
{
	struct search_sample sample;
	int r;

	do
		r = try_load(s, load, goal->final_s, &sample, err);
	while (!r &&
	       goal_judge(goal, s->out->attempts, s->out->n_attempts, load).bound == BOUND_NONE);
	return r;
}

/* Leaves the bounds in the target, for the finer one that follows. */
static int hunt(struct search *s, struct target *t, struct err *err)
{
	struct bounds b = bounds_of(s, &t->goal);
	int r = 0;

	t->step = 1;
	while (!r && !settled(s, &t->goal, &b)) {
		r = decide(s, &t->goal, next_load(s, t, &b), err);
		b = bounds_of(s, &t->goal);
	}
	t->lower = b.lower;
	t->upper = b.upper;
	return r;
}

static int pursue(struct search *s, const struct goal *goal, struct err *err)
{
	struct target t = {.lower = NAN, .upper = NAN};
	int r = 0;

	for (int i = 0; !r && i < TARGETS; i++) {
		t.goal = coarser(s, goal, i);
		r = hunt(s, &t, err);
	}
	return r;
}

/* The trials of one goal count for the others too, and may unsettle what was settled before. */
static int pursue_all(struct search *s, const struct goal *goals, size_t n, struct err *err)
{
	bool all = false;
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = pursue(s, &goals[i], err);
	while (!r && !all) {
		all = true;
		for (size_t i = 0; !r && i < n; i++) {
			const struct bounds b = bounds_of(s, &goals[i]);
			struct target t = {.goal = goals[i], .lower = b.lower, .upper = b.upper};

			if (settled(s, &goals[i], &b))
				continue;
			all = false;
			r = hunt(s, &t, err);
		}
	}
	return r;
}

/* At an upper bound: would every bad trial have been good if all had been sent? */
static bool generator_failed(const struct search_outcome *out, const struct goal *goal, double load)
{
	for (size_t i = 0; i < out->n_attempts; i++) {
		const struct attempt *a = &out->attempts[i];

		if (a->load >= load && a->load <= load && a->loss_ratio > goal->loss_ratio &&
		    a->loss_ratio - a->unsent_ratio > goal->loss_ratio)
			return false;
	}
	return !isnan(load);
}

static void report(const struct search *s, const struct goal *goal, struct search_found *found)
{
	const struct search_outcome *out = s->out;
	const struct bounds b = bounds_of(s, goal);

	*found = (struct search_found){
		.goal = *goal,
		.lower = b.lower,
		.upper = b.upper,
		.throughput = isnan(b.lower) ? NAN
					     : goal_throughput(goal, out->attempts, out->n_attempts,
							       b.lower),
		.at_max = isnan(b.upper) && b.lower >= s->max,
		.below_min = isnan(b.lower) && b.upper <= s->min,
		.generator_limit = generator_failed(out, goal, b.upper),
	};
}

int search_run(const struct search_cfg *cfg, const struct search_probe *probe,
	       struct search_outcome *ret, struct err *err)
{
	struct search s = {.probe = probe,
			   .out = ret,
			   .min = (double)cfg->min.value,
			   .first_s = FIRST_S,
			   .cap_s = (double)search_cap_ns(cfg) / 1e9};
	struct goal goals[SEARCH_GOALS_MAX];
	size_t n = 0;
	int r;

	*ret = (struct search_outcome){0};
	r = search_goals(cfg, goals, &n, err);
	if (r)
		return r;
	ret->found = calloc(n, sizeof(*ret->found));
	if (!ret->found)
		return err_sys(err, ENOMEM, "cannot search");
	for (size_t i = 0; i < n; i++)
		s.first_s = fmin(s.first_s, goals[i].final_s);
	r = look_around(&s, cfg, err);
	if (!r)
		r = pursue_all(&s, goals, n, err);
	for (size_t i = 0; i < n; i++)
		report(&s, &goals[i], &ret->found[i]);
	ret->n_found = n;
	return r == ENOUGH ? 0 : r;
}

void search_outcome_release(struct search_outcome *outcome)
{
	free(outcome->found);
	free(outcome->attempts);
	*outcome = (struct search_outcome){0};
}
