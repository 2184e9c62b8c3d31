/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the words and figures that the table has for a case. */
#include "result/row.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "result/result.h"

/* Of the median; a wider interval is worth a remark. */
#define SPREAD_LIMIT 0.1

static double median_of(const struct result *result, const struct metric *metric)
{
	struct stats stats;

	if (!metric)
		return NAN;
	stats_of(metric->samples, metric->n, result->seed, &stats);
	return stats.median;
}

static double median_named(const struct result *result, const struct result_case *c,
			   const char *name)
{
	return median_of(result, case_metric(c, name));
}

/*
 * "2.90 / 14.2 µs"; the unit is said twice only if there are two. Too few samples for a p99.9 still
 * have a maximum, which is then called by its name.
 */
static int times_text(const struct result *result, const struct result_case *c, char **ret)
{
	static const char *const kinds[][3] = {
		{"latency_p50", "latency_p999", "latency_max"},
		{"rtt_p50", "rtt_p999", "rtt_max"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const double p50 = median_named(result, c, kinds[i][0]);
		const double p999 = median_named(result, c, kinds[i][1]);
		const double max = median_named(result, c, kinds[i][2]);
		const bool use_max = isnan(p999) && !isnan(max);
		char low[32], high[32], *unit;

		if (isnan(p50) && isnan(p999))
			continue;
		unit_format(p50, "ns", low, sizeof(low));
		unit_format(use_max ? max : p999, "ns", high, sizeof(high));
		unit = strchr(low, ' ');
		if (unit && strchr(high, ' ') && !strcmp(unit, strchr(high, ' ')))
			*unit = '\0';
		return asprintf(ret, "%s / %s%s", low, use_max ? "max " : "", high) < 0 ? -ENOMEM
											: 0;
	}
	return 0;
}

static bool found_bad(const struct findings *findings, const char *what)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!findings->list[i].ok && !strcmp(findings->list[i].what, what))
			return true;
	return false;
}

static int cpus_text(const struct result_case *c, struct row *row)
{
	double busy = 0;

	if (!c->n_cpus)
		return 0;
	for (size_t i = 0; i < c->n_cpus; i++)
		busy += c->cpus[i].user + c->cpus[i].system + c->cpus[i].irq + c->cpus[i].softirq;
	if (found_bad(&c->validity, "other processes"))
		row->mark[COL_CPUS] = '!';
	return asprintf(&row->cell[COL_CPUS], "%.2f", busy) < 0 ? -ENOMEM : 0;
}

/* Half of the interval relative to the median; of a single trial it is unknown, which is not none. */
static double spread_of(const struct stats *stats)
{
	if (stats->n < 2 || stats->median == 0)
		return NAN;
	return (stats->ci_hi - stats->ci_lo) / 2 / fabs(stats->median);
}

/* What was searched for, else the first metric. NULL: there is none. */
static const struct metric *headline(const struct result_case *c)
{
	const struct metric *ndr = c->n_searches ? case_metric(c, "ndr") : NULL;

	return ndr ? ndr : c->n_metrics ? c->metrics : NULL;
}

/* A generator that was the limit: rates are at least what was measured, times at most. */
static const char *bound_of(const struct result_case *c, const struct metric *metric)
{
	if (!c->generator_limited)
		return "";
	return metric->def->better == BETTER_LOWER ? "≤ " : "≥ ";
}

static int headline_text(const struct result *result, const struct result_case *c, struct row *row)
{
	const struct metric *metric = headline(c);
	char text[64];
	struct stats stats;

	if (!metric)
		return 0;
	stats_of(metric->samples, metric->n, result->seed, &stats);
	unit_format(stats.median, metric->def->unit, text, sizeof(text));
	row->cell[COL_WHAT] = strdup(metric->def->name);
	if (asprintf(&row->cell[COL_MEDIAN], "%s%s", bound_of(c, metric), text) < 0)
		row->cell[COL_MEDIAN] = NULL;
	unit_format(spread_of(&stats), "ratio", text, sizeof(text));
	row->cell[COL_SPREAD] = strdup(text);
	return row->cell[COL_WHAT] && row->cell[COL_MEDIAN] && row->cell[COL_SPREAD] ? 0 : -ENOMEM;
}

/* Remarks are separated by semicolons. */
struct remarks {
	FILE *out;
	const char *gap;
};

static void remark(struct remarks *remarks, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void remark(struct remarks *remarks, const char *fmt, ...)
{
	va_list ap;

	fputs(remarks->gap, remarks->out);
	remarks->gap = "; ";
	va_start(ap, fmt);
	vfprintf(remarks->out, fmt, ap);
	va_end(ap);
}

/* "3.60 → 3.98 ← Gbit/s" */
static void remark_directions(const struct result *result, const struct result_case *c,
			      struct remarks *remarks)
{
	const struct metric *forward = case_metric(c, "goodput_forward");
	const struct metric *reverse = case_metric(c, "goodput_reverse");
	char there[64], back[64], *unit, *other;

	if (!forward || !reverse)
		return;
	unit_format(median_of(result, forward), forward->def->unit, there, sizeof(there));
	unit_format(median_of(result, reverse), reverse->def->unit, back, sizeof(back));
	unit = strchr(there, ' ');
	other = strchr(back, ' ');
	if (!unit || !other || strcmp(unit, other)) {
		remark(remarks, "%s →, %s ←", there, back);
		return;
	}
	*unit = *other = '\0';
	remark(remarks, "%s → %s ← %s", there, back, other + 1);
}

/* A generator that could not keep the rate measured something else than was asked for. */
static void remark_asked(const struct result *result, const struct result_case *c,
			 struct remarks *remarks)
{
	const double asked = median_named(result, c, "asked"),
		     sent = median_named(result, c, "sent");
	char was[64], wanted[64];

	if (isnan(asked) || isnan(sent) || sent >= 0.99 * asked)
		return;
	unit_format(sent, "packet/s", was, sizeof(was));
	unit_format(asked, "packet/s", wanted, sizeof(wanted));
	remark(remarks, "sent %s of %s asked", was, wanted);
}

static void remark_retransmits(const struct result *result, const struct result_case *c,
			       struct remarks *remarks)
{
	const double count = median_named(result, c, "retransmits");
	const double ratio = median_named(result, c, "retransmit_ratio");
	char text[64], share[64];

	if (isnan(count) || count == 0)
		return;
	unit_format(count, "", text, sizeof(text));
	unit_format(ratio, "ratio", share, sizeof(share));
	remark(remarks, "%s retransmit%s%s%s%s", text, count == 1 ? "" : "s",
	       isnan(ratio) ? "" : " (", isnan(ratio) ? "" : share, isnan(ratio) ? "" : ")");
}

/* Metrics that qualify the headline, said where they are not the headline themselves. */
static const struct {
	const char *metric, *before, *after, *after_one;
	bool only_if_some;
	const char *unless; /* a metric that says the same better */
} qualifiers[] = {
	{"pdr", "pdr ", "", "", false, NULL},
	{"dropped", "dropped ", "", "", true, NULL},
	{"loss", "loss ", "", "", false, NULL},
	{"duplicates", "", " duplicates", " duplicate", true, NULL},
	{"reordered", "", " reordered", " reordered", true, NULL},
	{"timeouts", "", " timeouts", " timeout", true, NULL},
	{"missed", "", " missed", " missed", true, NULL},
	{"time_per_frame", "", " a frame", " a frame", false, NULL},
	{"cpu_per_gb", "CPU ", "", "", false, "cost"},
	{"cost", "CPU ", " a packet", " a packet", false, NULL},
};

static void remark_qualifiers(const struct result *result, const struct result_case *c,
			      struct remarks *remarks)
{
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		const struct metric *metric = case_metric(c, qualifiers[i].metric);
		double median = median_of(result, metric);
		char text[64];

		if (isnan(median) || metric == headline(c) ||
		    (qualifiers[i].only_if_some && median == 0) ||
		    (qualifiers[i].unless && case_metric(c, qualifiers[i].unless)))
			continue;
		unit_format(median, metric->def->unit, text, sizeof(text));
		remark(remarks, "%s%s%s%s", qualifiers[i].before,
		       strcmp(qualifiers[i].metric, "time_per_frame") ? "" : bound_of(c, metric),
		       text, median == 1 ? qualifiers[i].after_one : qualifiers[i].after);
	}
}

/* A median that may be anywhere is no error of the run, but nobody should build on it. */
static void remark_spread(const struct result *result, const struct result_case *c,
			  struct remarks *remarks)
{
	const struct metric *metric = headline(c);
	struct stats stats;
	double spread;

	if (!metric)
		return;
	stats_of(metric->samples, metric->n, result->seed, &stats);
	if (c->n_searches > 1 && stats.n > 1 && stats.median > 0) {
		char text[64];

		unit_format((stats.max - stats.min) / stats.median, "ratio", text, sizeof(text));
		remark(remarks, "spread of %zu searches %s", stats.n, text);
		return;
	}
	spread = spread_of(&stats);
	if (isnan(spread) || spread <= SPREAD_LIMIT)
		return;
	remark(remarks, "spread ±%.0f %%: try -n %zu", spread * 100,
	       stats.n < 10 ? (size_t)10 : 2 * stats.n);
}

static int remark_text(const struct result *result, const struct result_case *c, char **ret)
{
	size_t len;
	struct remarks remarks = {.out = open_memstream(ret, &len), .gap = ""};

	if (!remarks.out)
		return -ENOMEM;
	remark_directions(result, c, &remarks);
	if (c->remark)
		remark(&remarks, "%s", c->remark);
	remark_asked(result, c, &remarks);
	remark_retransmits(result, c, &remarks);
	remark_qualifiers(result, c, &remarks);
	remark_spread(result, c, &remarks);
	if (c->trials_done < c->trials_wanted)
		remark(&remarks, "%u of %u trials", c->trials_done, c->trials_wanted);
	return fclose(remarks.out) ? -ENOMEM : 0;
}

int row_fill(const struct result *result, const struct result_case *c, struct row *row)
{
	int ret;

	row->cell[COL_CASE] = strdup(c->name);
	row->cell[COL_VERDICT] = strdup(case_status_name(c->status));
	if (!row->cell[COL_CASE] || !row->cell[COL_VERDICT])
		return -ENOMEM;
	if (c->status == CASE_SUSPECT)
		row->mark[COL_MEDIAN] = '!';
	else if (c->status == CASE_FAILED || c->status == CASE_VOID)
		row->mark[COL_MEDIAN] = 'x';
	ret = headline_text(result, c, row);
	if (!ret)
		ret = times_text(result, c, &row->cell[COL_TIMES]);
	if (!ret)
		ret = cpus_text(c, row);
	if (!ret)
		ret = remark_text(result, c, &row->cell[COL_REMARK]);
	return ret;
}

void row_release(struct row *row)
{
	for (size_t i = 0; i < COLUMNS; i++)
		free(row->cell[i]);
}
