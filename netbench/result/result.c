/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the memory of a result and the rules by which findings, drops and verdicts add up. */
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "result/append.h"
#include "result/fit.h"
#include "result/ladder.h"
#include "result/search.h"

struct result *result_new(void)
{
	return calloc(1, sizeof(struct result));
}

static void facts_free(struct fact *facts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(facts[i].name);
		free(facts[i].value);
	}
	free(facts);
}

static void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		free(findings->list[i].what);
		free(findings->list[i].detail);
	}
	free(findings->list);
}

static void case_release(struct result_case *c)
{
	free(c->name);
	for (size_t i = 0; i < c->n_labels; i++) {
		free(c->labels[i].name);
		free(c->labels[i].value);
	}
	free(c->labels);
	free(c->reason);
	for (size_t i = 0; i < c->n_metrics; i++)
		free(c->metrics[i].samples);
	free(c->metrics);
	for (size_t i = 0; i < c->ledger.n_drops; i++)
		free(c->ledger.drops[i].name);
	free(c->ledger.drops);
	findings_free(&c->proofs);
	findings_free(&c->validity);
	free(c->cpus);
	free(c->intervals);
	free(c->remark);
	versus_release(&c->versus);
	for (size_t i = 0; i < c->n_searches; i++)
		search_result_release(&c->searches[i]);
	free(c->searches);
	for (size_t i = 0; i < c->n_curves; i++)
		curve_release(&c->curves[i]);
	free(c->curves);
}

void result_free(struct result *result)
{
	if (!result)
		return;
	free(result->error);
	for (size_t i = 0; result->command && result->command[i]; i++)
		free(result->command[i]);
	free(result->command);
	free(result->suite);
	free(result->suite_file);
	free(result->about);
	facts_free(result->options, result->n_options);
	facts_free(result->host, result->n_host);
	for (size_t i = 0; i < result->n_cases; i++)
		case_release(&result->cases[i]);
	free(result->cases);
	for (size_t i = 0; i < result->n_fits; i++)
		fit_release(&result->fits[i]);
	free(result->fits);
	free(result);
}

int result_set_command(struct result *result, int argc, char *const *argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (int i = 0; i < argc; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i])
			goto free_copy;
	}
	for (size_t i = 0; result->command && result->command[i]; i++)
		free(result->command[i]);
	free(result->command);
	result->command = copy;
	return 0;
free_copy:
	for (int i = 0; i < argc; i++)
		free(copy[i]);
	free(copy);
	return -ENOMEM;
}

/* A NULL value is a fact that is unknown, and stays NULL. */
static int pair_copy(const char *name, const char *value, char **ret_name, char **ret_value)
{
	char *own_name = strdup(name), *own_value = value ? strdup(value) : NULL;

	if (!own_name || (value && !own_value)) {
		free(own_name);
		free(own_value);
		return -ENOMEM;
	}
	*ret_name = own_name;
	*ret_value = own_value;
	return 0;
}

int result_add_fact(struct fact **facts, size_t *n, const char *name, const char *value)
{
	struct fact *fact = APPEND(*facts, *n);

	if (!fact || pair_copy(name, value, &fact->name, &fact->value) < 0)
		return -ENOMEM;
	(*n)++;
	return 0;
}

struct result_case *result_add_case(struct result *result, const char *name)
{
	struct result_case *c = APPEND(result->cases, result->n_cases);

	if (!c)
		return NULL;
	c->name = strdup(name);
	if (!c->name)
		return NULL;
	result->n_cases++;
	return c;
}

int case_add_label(struct result_case *c, const char *name, const char *value)
{
	struct label *label = APPEND(c->labels, c->n_labels);

	if (!label || pair_copy(name, value, &label->name, &label->value) < 0)
		return -ENOMEM;
	c->n_labels++;
	return 0;
}

/* Pending and skipped say nothing about the numbers: any verdict replaces them. */
static int gravity(enum case_status status)
{
	switch (status) {
	case CASE_PENDING:
		return 0;
	case CASE_SKIPPED:
		return 1;
	case CASE_OK:
		return 2;
	case CASE_SUSPECT:
		return 3;
	case CASE_FAILED:
		return 4;
	case CASE_VOID:
		return 5;
	}
	return 0;
}

void case_worsen(struct result_case *c, enum case_status status, const char *fmt, ...)
{
	char *reason = NULL;
	va_list ap;

	if (gravity(status) <= gravity(c->status))
		return;
	c->status = status;
	if (status != CASE_OK && fmt) {
		va_start(ap, fmt);
		if (vasprintf(&reason, fmt, ap) < 0)
			reason = NULL;
		va_end(ap);
	}
	free(c->reason);
	c->reason = reason;
}

int case_sum_up(struct result_case *c)
{
	const char *gap = "", *trials = " trials";
	char *reason = NULL;
	size_t len;
	FILE *out;

	if (c->status != CASE_SUSPECT)
		return 0;
	out = open_memstream(&reason, &len);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < c->validity.n; i++) {
		const struct finding *finding = &c->validity.list[i];

		if (finding->ok)
			continue;
		fprintf(out, "%s%s: %s", gap, finding->what, finding->detail);
		if (finding->checked > 1)
			fprintf(out, " (%u of %u%s)", finding->failed, finding->checked, trials);
		trials = "";
		gap = "; ";
	}
	if (fclose(out)) {
		free(reason);
		return -ENOMEM;
	}
	/* What ran beside a disturbed load has no findings of its own. */
	if (!*reason) {
		free(reason);
		return 0;
	}
	free(c->reason);
	c->reason = reason;
	return 0;
}

static struct metric *metric_of(struct result_case *c, const struct metric_def *def)
{
	struct metric *metric;

	for (size_t i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].def->name, def->name))
			return &c->metrics[i];
	metric = APPEND(c->metrics, c->n_metrics);
	if (!metric)
		return NULL;
	metric->def = def;
	c->n_metrics++;
	return metric;
}

int case_add_sample(struct result_case *c, const struct metric_def *def, double value)
{
	struct metric *metric = metric_of(c, def);
	double *grown;
	size_t room;

	if (!metric)
		return -ENOMEM;
	if (metric->n == metric->room) {
		room = metric->room ? 2 * metric->room : 8;
		grown = reallocarray(metric->samples, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		metric->samples = grown;
		metric->room = room;
	}
	/* Something divided by no time is no more known than no time divided by something. */
	metric->samples[metric->n++] = isfinite(value) ? value : NAN;
	return 0;
}

const struct metric *case_metric(const struct result_case *c, const char *name)
{
	for (size_t i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].def->name, name))
			return &c->metrics[i];
	return NULL;
}

int case_add_drop(struct result_case *c, const char *name, uint64_t count)
{
	struct ledger *ledger = &c->ledger;
	struct drop *drop;

	for (size_t i = 0; i < ledger->n_drops; i++)
		if (!strcmp(ledger->drops[i].name, name)) {
			ledger->drops[i].count += count;
			return 0;
		}
	drop = APPEND(ledger->drops, ledger->n_drops);
	if (!drop)
		return -ENOMEM;
	drop->name = strdup(name);
	if (!drop->name)
		return -ENOMEM;
	drop->count = count;
	ledger->n_drops++;
	return 0;
}

static struct finding *finding_of(struct findings *findings, const char *what)
{
	struct finding *finding;

	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->list[i].what, what))
			return &findings->list[i];
	finding = APPEND(findings->list, findings->n);
	if (!finding)
		return NULL;
	finding->what = strdup(what);
	if (!finding->what)
		return NULL;
	finding->ok = true;
	findings->n++;
	return finding;
}

int findings_add(struct findings *findings, bool ok, const char *what, const char *fmt, ...)
{
	struct finding *finding = finding_of(findings, what);
	char *detail;
	va_list ap;
	int len;

	if (!finding)
		return -ENOMEM;
	finding->checked++;
	finding->failed += !ok;
	/* What went wrong first is what explains the rest. */
	if (!finding->ok)
		return 0;
	finding->ok = ok;
	va_start(ap, fmt);
	len = vasprintf(&detail, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	free(finding->detail);
	finding->detail = detail;
	return 0;
}

int case_add_interval(struct result_case *c, const struct interval *interval)
{
	struct interval *added = APPEND(c->intervals, c->n_intervals);

	if (!added)
		return -ENOMEM;
	*added = *interval;
	c->n_intervals++;
	return 0;
}

static void mean_in(double *mean, double value, unsigned int n)
{
	*mean += (value - *mean) / n;
}

static struct cpu_share *share_of(struct result_case *c, int cpu)
{
	struct cpu_share *added;

	for (size_t i = 0; i < c->n_cpus; i++)
		if (c->cpus[i].cpu == cpu)
			return &c->cpus[i];
	added = APPEND(c->cpus, c->n_cpus);
	if (!added)
		return NULL;
	*added = (struct cpu_share){.cpu = cpu};
	c->n_cpus++;
	return added;
}

int case_add_cpus(struct result_case *c, const struct cpu_share *shares, size_t n)
{
	const unsigned int trials = ++c->cpu_trials;

	for (size_t i = 0; i < n; i++) {
		struct cpu_share *mean = share_of(c, shares[i].cpu);

		if (!mean)
			return -ENOMEM;
		mean_in(&mean->user, shares[i].user, trials);
		mean_in(&mean->system, shares[i].system, trials);
		mean_in(&mean->irq, shares[i].irq, trials);
		mean_in(&mean->softirq, shares[i].softirq, trials);
		mean_in(&mean->steal, shares[i].steal, trials);
		mean_in(&mean->idle, shares[i].idle, trials);
	}
	return 0;
}

int case_set_remark(struct result_case *c, const char *fmt, ...)
{
	va_list ap;
	int r;

	if (c->remark)
		return 0;
	va_start(ap, fmt);
	r = vasprintf(&c->remark, fmt, ap);
	va_end(ap);
	if (r < 0)
		c->remark = NULL;
	return r < 0 ? -ENOMEM : 0;
}

const char *case_status_name(enum case_status status)
{
	static const char *const names[] = {
		[CASE_PENDING] = "pending", [CASE_OK] = "ok",	      [CASE_SUSPECT] = "suspect",
		[CASE_SKIPPED] = "skipped", [CASE_FAILED] = "failed", [CASE_VOID] = "void",
	};

	return names[status];
}

int result_exit_code(const struct result *result)
{
	bool ran = false, bad = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		enum case_status status = result->cases[i].status;

		bad |= status == CASE_FAILED || status == CASE_VOID;
		ran |= status != CASE_SKIPPED && status != CASE_PENDING;
	}
	if (bad)
		return 1;
	return ran ? 0 : 3;
}
