/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the measurements around the result of a search. */
#include "run/around.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "result/result.h"
#include "run/probe.h"

enum { COLUMNS_MAX = 8, ROWS_MAX = 16 };

/* RFC 8219 §7.2 measures latency at a load; 0 % of one is a packet every millisecond. */
#define IDLE_PPS 1000
/* A burst must end, and what it left in queues must arrive, within the trial. */
#define BURST_MARGIN_S 0.05
/* Bursts are told apart to this, relative to the longer. */
#define BURST_WIDTH 0.01

struct table {
	const char *name;
	const char *const *columns, *const *units;
	size_t n_columns, n_rows;
	double rows[ROWS_MAX * COLUMNS_MAX];
};

static void add_row(struct table *table, const double *values)
{
	memcpy(table->rows + table->n_rows * table->n_columns, values,
	       table->n_columns * sizeof(*values));
	table->n_rows++;
}

static int add_curve(struct table *table, struct result_case *c, struct err *err)
{
	char *columns[COLUMNS_MAX], *units[COLUMNS_MAX];
	const struct curve curve = {
		.name = (char *)table->name,
		.columns = columns,
		.units = units,
		.n_columns = table->n_columns,
		.rows = table->rows,
		.n_rows = table->n_rows,
	};

	for (size_t i = 0; i < table->n_columns; i++) {
		columns[i] = (char *)table->columns[i];
		units[i] = (char *)table->units[i];
	}
	return case_add_curve(c, &curve) ? err_sys(err, ENOMEM, "cannot keep a curve") : 0;
}

int around_check(const struct probe *probe, const struct search_cfg *cfg, struct err *err)
{
	return cfg->also & SEARCH_BACK_TO_BACK ? probe_can_burst(probe, err) : 0;
}

/* RFC 2544 §26.3: from the highest rate down by tenths, until two in a row lose nothing. */
static int loss_curve(struct probe *probe, double max_pps, double duration_s, struct result_case *c,
		      struct err *err)
{
	static const char *const columns[] = {"share", "load", "loss", "forwarded"};
	static const char *const units[] = {"ratio", "packet/s", "ratio", "packet/s"};
	struct table table = {.name = "loss", .columns = columns, .units = units, .n_columns = 4};
	int r = 0, clean = 0;

	for (int tenths = 10; !r && tenths > 0 && clean < 2; tenths--) {
		const double share = tenths / 10.0, load = fmax(1, round(max_pps * share));
		struct search_sample sample = {0};

		r = probe_measure(probe, load, duration_s, &sample, err);
		clean = sample.loss_ratio > 0 ? 0 : clean + 1;
		if (!r)
			add_row(&table,
				(double[]){share, load, sample.loss_ratio, sample.forwarded_pps});
	}
	return r ? r : add_curve(&table, c, err);
}

/* RFC 8219 §7.2: typical latency is the median, worst-case latency the 99.9th percentile. */
static int latency_curve(struct probe *probe, double pps, double duration_s, struct result_case *c,
			 struct err *err)
{
	static const double shares[] = {0, 0.1, 0.5, 0.9, 1};
	static const char *const columns[] = {"share", "load", "latency_p50", "latency_p999",
					      "loss"};
	static const char *const units[] = {"ratio", "packet/s", "ns", "ns", "ratio"};
	struct table table = {
		.name = "latency", .columns = columns, .units = units, .n_columns = 5};
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(shares) / sizeof(*shares); i++) {
		const double load = shares[i] > 0 ? fmax(1, round(pps * shares[i])) : IDLE_PPS;
		struct search_sample sample = {0};

		r = probe_measure(probe, load, duration_s, &sample, err);
		if (!r)
			add_row(&table,
				(double[]){shares[i], load, probe_figure(probe, "latency_p50"),
					   probe_figure(probe, "latency_p999"), sample.loss_ratio});
	}
	return r ? r : add_curve(&table, c, err);
}

static int burst_passes(struct probe *probe, double count, double max_pps, bool *ret,
			struct err *err)
{
	struct search_sample sample = {0};
	int r = probe_burst(probe, (uint64_t)count, count / max_pps + BURST_MARGIN_S, &sample, err);

	*ret = !(sample.loss_ratio > 0);
	return r;
}

/* The longest burst without loss, by bisection; `most` when that one passes too. */
static int longest_burst(struct probe *probe, double most, double max_pps, double *ret,
			 struct err *err)
{
	double lower = 0, upper = most, at = most;
	bool passes;
	int r = 0;

	while (!r && (lower < upper) && upper - lower > fmax(1, upper * BURST_WIDTH)) {
		r = burst_passes(probe, at, max_pps, &passes, err);
		if (passes)
			lower = at;
		else
			upper = at;
		at = floor(lower > 0 ? sqrt(lower * upper) : upper / 4);
		if (at < 1)
			break;
	}
	*ret = lower;
	return r;
}

struct spread {
	double sum, squares, min, max;
	size_t n;
};

static void note(struct spread *spread, double value)
{
	spread->min = spread->n ? fmin(spread->min, value) : value;
	spread->max = spread->n ? fmax(spread->max, value) : value;
	spread->sum += value;
	spread->squares += value * value;
	spread->n++;
}

/*
 * RFC 2544 §26.4, RFC 9004 §6: the mean burst in time at the highest rate is the buffer that it
 * implies; while it filled, the path went on at its throughput, which the corrected time leaves out.
 */
static int back_to_back(struct probe *probe, const struct search_cfg *cfg,
			const struct search_outcome *outcome, struct result_case *c,
			struct err *err)
{
	static const char *const columns[] = {"bursts", "mean",	   "min",      "max",
					      "sd",	"implied", "corrected"};
	static const char *const units[] = {"", "", "", "", "", "ns", "ns"};
	struct table table = {
		.name = "back-to-back", .columns = columns, .units = units, .n_columns = 7};
	const struct search_found *first = &outcome->found[0];
	const double max_pps = outcome->max_pps, most = floor(max_pps * first->goal.final_s);
	const double throughput = isnan(first->throughput) ? 0 : first->throughput;
	struct spread spread = {0};
	double burst, mean, implied;
	int r = 0;

	for (uint64_t i = 0; !r && i < cfg->bursts; i++) {
		r = longest_burst(probe, most, max_pps, &burst, err);
		if (!r)
			note(&spread, burst);
	}
	if (r)
		return r;
	mean = spread.sum / (double)spread.n;
	implied = mean / max_pps * 1e9;
	add_row(&table, (double[]){(double)spread.n, mean, spread.min, spread.max,
				   sqrt(fmax(0, spread.squares / (double)spread.n - mean * mean)),
				   implied, implied * fmax(0, 1 - throughput / max_pps)});
	return add_curve(&table, c, err);
}

/* PDR, where it was searched for and found; else the strictest goal that was. */
static double reference_load(const struct search_outcome *outcome)
{
	double load = NAN;

	for (size_t i = 0; i < outcome->n_found; i++) {
		const struct search_found *found = &outcome->found[i];

		if (isnan(found->lower))
			continue;
		if (isnan(load) || !strcmp(found->goal.name, "pdr"))
			load = found->lower;
	}
	return load;
}

int around_measure(struct probe *probe, const struct search_cfg *cfg,
		   const struct search_outcome *outcome, struct result_case *c, struct err *err)
{
	const double load = reference_load(outcome), duration_s = outcome->found[0].goal.final_s;
	int r = 0;

	if (!(outcome->max_pps > 0)) /* cut off before anything was known */
		return 0;
	if (cfg->also & SEARCH_LOSS_CURVE)
		r = loss_curve(probe, outcome->max_pps, duration_s, c, err);
	if (!r && (cfg->also & SEARCH_BACK_TO_BACK))
		r = back_to_back(probe, cfg, outcome, c, err);
	if (!r && (cfg->also & SEARCH_LATENCY) && !isnan(load))
		r = latency_curve(probe, load, duration_s, c, err);
	return r;
}
