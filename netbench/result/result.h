/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a run: a tree that the runner fills and the report writers walk. Plain data, no
 * kernel interfaces. Everything in it is owned by the struct result.
 */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum case_status { CASE_PENDING, CASE_OK, CASE_SUSPECT, CASE_SKIPPED, CASE_FAILED, CASE_VOID };

enum better { BETTER_HIGHER, BETTER_LOWER, BETTER_NEITHER };

/* What a metric is: a constant of the load that reports it. */
struct metric_def {
	const char *name,
		*unit; /* units as in docs/method.md: bit/s packet/s ns byte 1/s s/GB ratio "" */
	enum better better;
	const char *observer; /* "receiver", "sender", "kernel", "client" */
	const char *layer;    /* "L4 payload", "L2", …; NULL when no layer applies */
};

struct metric {
	const struct metric_def *def; /* borrowed: lives as long as the program */
	double *samples;	      /* one per trial; NaN = unknown, infinity is kept as NaN */
	size_t n, room;
};

struct drop {
	char *name; /* "socket buffer", "link wire", … */
	uint64_t count;
};

/* Packet conservation, added up over the trials of a case. */
struct ledger {
	bool present;
	uint64_t sent, delivered, duplicates;
	struct drop *drops;
	size_t n_drops;
	int64_t residual;		    /* sent - delivered - drops; not 0 voids the case */
	unsigned int trials, trials_closed; /* in these books, and those without a residual */
};

struct finding { /* a proof or a validity check */
	char *what, *detail;
	bool ok;
	unsigned int checked, failed; /* how often; validity is checked once per trial */
};

struct findings {
	struct finding *list;
	size_t n;
};

struct cpu_share { /* mean over the trials; ratios of the window, 1.0 = busy throughout */
	int cpu;
	double user, system, irq, softirq, steal, idle;
};

struct interval {
	unsigned int trial;
	double start_s, end_s;
	double value; /* in the unit of the case's first metric */
};

struct label {
	char *name, *value;
};

/*
 * What a case costs more than its baseline: the median difference of `time_per_frame` (or of
 * another metric in ns) round by round, with a bootstrap interval. In time, never as a difference of rates.
 */
struct versus {
	char *baseline; /* name of the other case; NULL: none */
	const struct metric_def *def;
	double difference, lo, hi; /* in the unit of def; NaN: not known */
};

/* One goal of a search (MLRsearch), with both bounds. */
struct search_goal_result {
	char *name; /* "ndr", "pdr", … */
	double loss_ratio, exceed_ratio, width, final_s, sum_s;
	double lower, upper; /* loads in packet/s; NaN: not found */
	double throughput;   /* conditional, at the lower bound */
};
struct search_trial {
	double load; /* packet/s */
	double duration_s, loss_ratio;
};
/* One search; a case has one per repeat. */
struct search_result {
	struct search_goal_result *goals;
	size_t n_goals;
	struct search_trial *trials; /* in the order they were run */
	size_t n_trials;
	double duration_s; /* of the whole search */
	bool capped;	   /* its time was up first: the bounds are those found until then */
};
/* A table of an RFC 2544 or RFC 9004 measurement, such as the loss curve. */
struct curve {
	char *name;	/* "loss", "latency", "back-to-back" */
	char **columns; /* "load", "loss_p50" … */
	char **units;	/* as metric_def.unit */
	size_t n_columns;
	double *rows; /* n_rows × n_columns */
	size_t n_rows;
};

struct result_case {
	char *name;
	struct label *labels;
	size_t n_labels;
	enum case_status status;
	char *reason; /* why it is not ok; NULL when it is */
	struct metric *metrics;
	size_t n_metrics;
	struct ledger ledger;
	struct findings proofs, validity;
	struct cpu_share *cpus;
	size_t n_cpus;
	unsigned int cpu_trials; /* trials in the means of cpus */
	struct interval *intervals;
	size_t n_intervals;
	char *remark;		/* one line for the table; may be NULL */
	bool generator_limited; /* the true value is at least this: shown as "≥ X" */
	struct versus versus;
	struct search_result *searches;
	size_t n_searches;
	struct curve *curves;
	size_t n_curves;
	unsigned int trials_done, trials_wanted;
};

/* A straight line through the medians of several cases: what one more of something costs. */
struct fit {
	char *name; /* "linear, hit last" */
	char *per;  /* the label that is varied: "filter.rules" */
	const struct metric_def *def;
	double slope, lo, hi; /* unit of def per unit of `per`; NaN: not known */
	size_t n;	      /* points */
};

struct fact { /* one entry of the fingerprint */
	char *name, *value;
};

struct result {
	bool complete;
	char *error;	      /* why it is not complete; NULL when it is */
	int64_t started_unix; /* seconds */
	char **command;	      /* argv, NULL-terminated copy */
	char *suite, *suite_file, *about;
	uint64_t seed;
	struct fact *options; /* effective --set, duration … */
	size_t n_options;
	struct fact *host; /* fingerprint in order of interest */
	size_t n_host;
	struct result_case *cases;
	size_t n_cases;
	struct fit *fits;
	size_t n_fits;
};

/* All adders copy their strings; they abort on out of memory only through -ENOMEM. */
struct result *result_new(void);
void result_free(struct result *result);
int result_set_command(struct result *result, int argc, char *const *argv);
int result_add_fact(struct fact **facts, size_t *n, const char *name, const char *value);
/* The pointer is valid until the next result_add_case. */
struct result_case *result_add_case(struct result *result, const char *name);
int case_add_label(struct result_case *c, const char *name, const char *value);
/* Worse wins: ok < suspect < failed < void; a reason is kept from the first of the worst. */
void case_worsen(struct result_case *c, enum case_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * When all trials are done: the reason of a suspect case names every check that failed, and in how
 * many trials, instead of only the first.
 */
int case_sum_up(struct result_case *c);
int case_add_sample(struct result_case *c, const struct metric_def *def, double value);
const struct metric *case_metric(const struct result_case *c, const char *name);
/* The same drop name adds up. */
int case_add_drop(struct result_case *c, const char *name, uint64_t count);
/* The same `what` again keeps the entry; ok only if all were; detail of the first that was not, else the last. */
int findings_add(struct findings *f, bool ok, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int case_add_interval(struct result_case *c, const struct interval *interval);
/* The shares of one trial, all CPUs that took part, go into the means. */
int case_add_cpus(struct result_case *c, const struct cpu_share *shares, size_t n);
/* Deep copies: what is passed stays the caller's. Added whole, or -ENOMEM and nothing was. */
int case_add_search(struct result_case *c, const struct search_result *search);
int case_add_curve(struct result_case *c, const struct curve *curve);
int result_add_fit(struct result *result, const struct fit *fit);
/* Keeps the first remark. */
int case_set_remark(struct result_case *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

const char *case_status_name(enum case_status status);

/* 0 all good, 1 a case failed or is void, 3 nothing could run. Interrupted runs are the caller's to know. */
int result_exit_code(const struct result *result);

/* The version of this program, as the writers print it. */
const char *result_version(void);

/* Writers. All return 0 or -errno. The document validates against docs/result.schema.json on every path. */
int result_write_json(const struct result *result, FILE *out, struct err *err);
struct table_style {
	bool color;	    /* use ANSI colours */
	bool verbose;	    /* every trial of a search */
	unsigned int width; /* columns of the terminal or 0 for no limit */
};
int result_write_table(const struct result *result, FILE *out, const struct table_style *style,
		       struct err *err);

#endif
