/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the options of a search, the presets, and how they become goals. */
#include "search/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND	     UINT64_C(1000000000)
#define TRIAL_MIN_NS UINT64_C(1000000)
#define WIDTH_MIN    1e-5

struct preset {
	double exceed_ratio, width;
	uint64_t final_ns, sum_ns, cap_ns;
};

/*
 * quick is ours: with the lab and the last trial, an answer within a minute. csit: FD.io CSIT's NDR
 * and PDR. rfc2544: RFC 2544 §24 and §26.1, one trial of a minute. tst009: ETSI GS NFV-TST 009 §12,
 * which repeats what seems to fail.
 */
static const struct preset presets[] = {
	[SEARCH_QUICK] = {0.5, 0.005, SECOND, 5 * SECOND, 55 * SECOND},
	[SEARCH_CSIT] = {0.5, 0.005, SECOND, 21 * SECOND, 1200 * SECOND},
	[SEARCH_RFC2544] = {0, 0.005, 60 * SECOND, 60 * SECOND, 7200 * SECOND},
	[SEARCH_TST009] = {0.5, 0.005, 60 * SECOND, 120 * SECOND, 14400 * SECOND},
};

static const char *const preset_names[] = {"quick", "csit", "rfc2544", "tst009", NULL};
static const char *const goal_names[] = {"ndr", "pdr", NULL};
static const char *const also_names[] = {"loss-curve", "back-to-back", "latency", NULL};
static const double standard_loss[] = {0, 0.005};

#define AT(member) .offset = offsetof(struct search_cfg, member)

const struct opt search_opts[] = {
	{.name = "preset",
	 .type = OPT_CHOICE,
	 AT(preset),
	 .def = "quick",
	 .choices = preset_names,
	 .help = "durations, exceed ratio, width and cap of the goals: quick 1 s trials summing up "
		 "to 5 s, "
		 "csit to 21 s, rfc2544 one of 60 s, tst009 two of 60 s"},
	{.name = "goals",
	 .type = OPT_SET,
	 AT(goals),
	 .def = "ndr,pdr",
	 .choices = goal_names,
	 .help = "what to search for: no loss (ndr), at most 0.5% (pdr)"},
	{.name = "own",
	 .type = OPT_TEXT,
	 AT(own),
	 .metavar = "GOALS",
	 .help = "more goals: NAME:loss=0.1%,exceed=50%,final=1s,sum=10s,width=1%; what is left "
		 "out is "
		 "as in the preset"},
	{.name = "final",
	 .type = OPT_TIME,
	 AT(final_ns),
	 .def = "0",
	 .max = 3600 * SECOND,
	 .help = "length of a trial that counts in full; 0: the preset's"},
	{.name = "sum",
	 .type = OPT_TIME,
	 AT(sum_ns),
	 .def = "0",
	 .max = 24 * 3600 * SECOND,
	 .help = "sum of the trials at a load that makes a verdict; 0: the preset's"},
	{.name = "width",
	 .type = OPT_RATIO,
	 AT(width),
	 .def = "0",
	 .max = 500000,
	 .help = "how near the bounds must be; 0: the preset's"},
	{.name = "min",
	 .type = OPT_RATE,
	 AT(min),
	 .def = "1kpps",
	 .min = 1,
	 .help = "lowest load, in pps"},
	{.name = "max",
	 .type = OPT_RATE,
	 AT(max),
	 .def = "max",
	 .min = 1,
	 .help = "highest load, in pps; max: as fast as the generator goes"},
	{.name = "also",
	 .type = OPT_SET,
	 AT(also),
	 .def = "off",
	 .choices = also_names,
	 .help = "further measurements of RFC 2544 and RFC 8219 around the result"},
	{.name = "bursts",
	 .type = OPT_COUNT,
	 AT(bursts),
	 .def = "10",
	 .min = 1,
	 .max = 1000,
	 .help = "searches for the longest burst, of which back-to-back is the mean"},
	{.name = "cap",
	 .type = OPT_TIME,
	 AT(cap_ns),
	 .def = "0",
	 .max = 7 * 24 * 3600 * SECOND,
	 .help = "give up after so long, with the bounds found until then; 0: the preset's"},
	{0},
};

/* An own goal, as its options. */
struct own {
	double loss, exceed, width;
	uint64_t final_ns, sum_ns;
};

#define OWN(member) .offset = offsetof(struct own, member)

static const struct opt own_opts[] = {
	{.name = "loss", .type = OPT_RATIO, OWN(loss), .max = 1000000},
	{.name = "exceed", .type = OPT_RATIO, OWN(exceed), .max = 999999},
	{.name = "final", .type = OPT_TIME, OWN(final_ns), .max = 3600 * SECOND},
	{.name = "sum", .type = OPT_TIME, OWN(sum_ns), .max = 24 * 3600 * SECOND},
	{.name = "width", .type = OPT_RATIO, OWN(width), .max = 500000},
	{0},
};

uint64_t search_cap_ns(const struct search_cfg *cfg)
{
	return cfg->cap_ns ? cfg->cap_ns : presets[cfg->preset].cap_ns;
}

static struct own preset_values(const struct search_cfg *cfg)
{
	const struct preset *preset = &presets[cfg->preset];

	return (struct own){
		.exceed = preset->exceed_ratio,
		.width = cfg->width > 0 ? cfg->width : preset->width,
		.final_ns = cfg->final_ns ? cfg->final_ns : preset->final_ns,
		.sum_ns = cfg->sum_ns ? cfg->sum_ns : preset->sum_ns,
	};
}

static int add_goal(const char *name, const struct own *own, struct goal *goals, size_t *n,
		    struct err *err)
{
	struct goal *goal = &goals[*n];

	if (own->final_ns < TRIAL_MIN_NS)
		return err_set(err, EINVAL, "goal '%s': a trial lasts at least 1ms", name);
	if (own->width < WIDTH_MIN)
		return err_set(err, EINVAL, "goal '%s': the width is at least 0.001%%", name);
	if (own->sum_ns < own->final_ns)
		return err_set(err, EINVAL,
			       "goal '%s': the sum of the trials is shorter than one of them",
			       name);
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(goals[i].name, name))
			return err_set(err, EINVAL, "goal '%s' is there twice", name);
	if (*n == SEARCH_GOALS_MAX)
		return err_set(err, EINVAL, "more than %d goals", SEARCH_GOALS_MAX);
	*goal = (struct goal){.loss_ratio = own->loss,
			      .exceed_ratio = own->exceed,
			      .width = own->width,
			      .final_s = (double)own->final_ns / 1e9,
			      .sum_s = (double)own->sum_ns / 1e9};
	strcpy(goal->name, name);
	(*n)++;
	return 0;
}

/* One "key=value" of an own goal. */
static int set_own(const char *name, const char *word, struct own *own, uint64_t *seen,
		   struct err *err)
{
	const char *equals = strchr(word, '=');
	const struct opt *opt;
	char key[16];
	int r;

	snprintf(key, sizeof(key), "%.*s", (int)(equals ? equals - word : 0), word);
	opt = opts_find(own_opts, key);
	if (!equals || !opt)
		return err_set(err, EINVAL,
			       "goal '%s': '%.64s' is none of loss=, exceed=, final=, sum=, width=",
			       name, word);
	if (*seen >> (opt - own_opts) & 1)
		return err_set(err, EINVAL, "goal '%s': '%s' is there twice", name, key);
	*seen |= UINT64_C(1) << (opt - own_opts);
	r = opt_set(opt, own, equals + 1, err);
	if (r)
		err_prefix(err, "goal '%s'", name);
	return r;
}

static bool name_ok(const char *name, size_t len)
{
	if (!len || len >= GOAL_NAME_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '0' && name[i] <= '9') &&
		    (!i || (name[i] != '_' && name[i] != '-')))
			return false;
	return true;
}

/* A word with a colon starts a goal; the others belong to the goal that was started last. */
struct reader {
	const struct search_cfg *cfg;
	struct goal *goals;
	size_t *n;
	char name[GOAL_NAME_MAX]; /* "": none started */
	struct own own;
	uint64_t seen;
};

static int finish(struct reader *reader, struct err *err)
{
	if (!reader->name[0])
		return 0;
	return add_goal(reader->name, &reader->own, reader->goals, reader->n, err);
}

static int read_word(struct reader *reader, char *word, struct err *err)
{
	char *colon = strchr(word, ':');
	int r;

	if (colon) {
		r = finish(reader, err);
		if (r)
			return r;
		if (!name_ok(word, (size_t)(colon - word)))
			return err_set(err, EINVAL,
				       "'%.64s' does not start with the name of a goal: a-z, 0-9, "
				       "'_' and '-', shorter than %d",
				       word, GOAL_NAME_MAX);
		*colon = '\0';
		strcpy(reader->name, word);
		reader->own = preset_values(reader->cfg);
		reader->seen = 0;
		word = colon + 1 + strspn(colon + 1, " ");
	}
	if (!*word)
		return 0;
	if (!reader->name[0])
		return err_set(err, EINVAL, "'%.64s' wants the name of a goal and ':' before it",
			       word);
	return set_own(reader->name, word, &reader->own, &reader->seen, err);
}

static int read_own(struct reader *reader, struct err *err)
{
	char *copy, *word, *rest;
	int r = 0;

	if (!reader->cfg->own)
		return 0;
	copy = strdup(reader->cfg->own);
	if (!copy)
		return err_set(err, ENOMEM, "out of memory");
	for (word = strtok_r(copy, ",", &rest); !r && word; word = strtok_r(NULL, ",", &rest))
		r = read_word(reader, word + strspn(word, " "), err);
	free(copy);
	return r ? r : finish(reader, err);
}

/* Strict goals have the lower bounds. */
static int by_strictness(const void *a, const void *b)
{
	const struct goal *l = a, *r = b;

	if (l->loss_ratio < r->loss_ratio || l->loss_ratio > r->loss_ratio)
		return l->loss_ratio < r->loss_ratio ? -1 : 1;
	if (l->exceed_ratio < r->exceed_ratio || l->exceed_ratio > r->exceed_ratio)
		return l->exceed_ratio < r->exceed_ratio ? -1 : 1;
	return strcmp(l->name, r->name);
}

int search_goals(const struct search_cfg *cfg, struct goal ret[SEARCH_GOALS_MAX], size_t *ret_n,
		 struct err *err)
{
	size_t n = 0;
	struct reader reader = {.cfg = cfg, .goals = ret, .n = &n};
	int r = 0;

	for (size_t i = 0; !r && goal_names[i]; i++) {
		struct own own = preset_values(cfg);

		own.loss = standard_loss[i];
		if (cfg->goals >> i & 1)
			r = add_goal(goal_names[i], &own, ret, &n, err);
	}
	if (!r)
		r = read_own(&reader, err);
	if (!r && !n)
		r = err_set(err, EINVAL, "a search without a goal");
	if (r)
		return r;
	qsort(ret, n, sizeof(*ret), by_strictness);
	*ret_n = n;
	return 0;
}

int search_check(const struct search_cfg *cfg, struct err *err)
{
	struct goal goals[SEARCH_GOALS_MAX];
	size_t n;

	if (cfg->min.unit == RATE_BPS || cfg->max.unit == RATE_BPS)
		return err_set(err, EINVAL,
			       "the loads of a search are packet rates, such as 10kpps");
	if (cfg->min.unit == RATE_MAX)
		return err_set(err, EINVAL, "'min' wants a rate such as 10kpps, not 'max'");
	if (cfg->max.unit == RATE_PPS && cfg->max.value <= cfg->min.value)
		return err_set(err, EINVAL, "'max' is not above 'min'");
	return search_goals(cfg, goals, &n, err);
}
