/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the JSON document of a result: docs/result.schema.json describes what is written here. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/stats.h"
#include "result/doc.h"
#include "result/result.h"

#if __has_include("version.h")
#include "version.h"
#endif
#ifndef NETBENCH_VERSION
#define NETBENCH_VERSION "0.1.0-dev"
#endif

#ifndef NETBENCH_COMPILER
#define NETBENCH_COMPILER "unknown"
#endif
#ifndef NETBENCH_LIBS
#define NETBENCH_LIBS ""
#endif

const char *result_version(void)
{
	return NETBENCH_VERSION;
}

/* A mean of shares may miss 0 or 1 by the last bit of a double. */
static json_t *share_json(double share)
{
	return isfinite(share) ? json_real(fmin(fmax(share, 0), 1)) : json_null();
}

/* jansson's integers are signed, but a seed may be larger, and a rounded seed is worthless. */
static json_t *seed_json(uint64_t seed)
{
	char text[24];

	if (seed <= INT64_MAX)
		return json_integer((json_int_t)seed);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)seed);
	return json_string(text);
}

static json_t *started_json(int64_t unix_s)
{
	time_t when = (time_t)unix_s;
	char text[32];
	struct tm tm;

	if (!unix_s || !gmtime_r(&when, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return json_null();
	return json_string(text);
}

static json_t *command_json(struct doc *doc, char *const *command)
{
	json_t *array = json_array();

	for (size_t i = 0; command && command[i]; i++)
		doc_push(doc, array, doc_text(command[i]));
	return array;
}

/* The build says "libmnl 1.0.4, jansson 2.14": names and versions as pkg-config has them. */
static json_t *libs_json(struct doc *doc)
{
	json_t *libs = json_object();
	char name[64], version[64];
	const char *list = NETBENCH_LIBS;
	int used;

	doc_put(doc, libs, "libc", json_string(gnu_get_libc_version()));
	while (sscanf(list, " %63[^ ,] %63[^ ,]%n", name, version, &used) == 2) {
		doc_put(doc, libs, name, json_string(version));
		list += used;
		list += *list == ',';
	}
	return libs;
}

static json_t *build_json(struct doc *doc)
{
	json_t *object = json_object();

	doc_put(doc, object, "version", json_string(NETBENCH_VERSION));
	doc_put(doc, object, "compiler", json_string(NETBENCH_COMPILER));
	doc_put(doc, object, "libs", libs_json(doc));
	return object;
}

static json_t *facts_json(struct doc *doc, const struct fact *facts, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++)
		doc_put(doc, object, facts[i].name, doc_text(facts[i].value));
	return object;
}

/* Which facts of the host are numbers is settled by name, or a board called "64" would be one. */
static bool is_number(const char *name)
{
	static const char *const numbers[] = {"cpus", "cpu_mhz_measured", "hz", "memory_bytes",
					      "userland_bits"};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(name, numbers[i]))
			return true;
	/* sysctl settings, most of which are one integer */
	return !strncmp(name, "net.", 4) || !strncmp(name, "kernel.", 7);
}

static json_t *host_json(struct doc *doc, const struct result *result)
{
	json_t *object = json_object();

	for (size_t i = 0; i < result->n_host; i++) {
		const struct fact *fact = &result->host[i];
		long long number;
		char *end = NULL;

		errno = 0;
		number = fact->value && is_number(fact->name) ? strtoll(fact->value, &end, 10) : 0;
		if (end && end != fact->value && !*end && !errno)
			doc_put(doc, object, fact->name, json_integer(number));
		else
			doc_put(doc, object, fact->name, doc_text(fact->value));
	}
	return object;
}

static json_t *suite_json(struct doc *doc, const struct result *result)
{
	json_t *object = json_object();

	doc_put(doc, object, "name", doc_text(result->suite));
	doc_put(doc, object, "file", doc_text(result->suite_file));
	doc_put(doc, object, "about", doc_text(result->about));
	doc_put(doc, object, "seed", seed_json(result->seed));
	doc_put(doc, object, "options", facts_json(doc, result->options, result->n_options));
	return object;
}

static json_t *metric_json(struct doc *doc, const struct metric *metric)
{
	static const char *const better[] = {
		[BETTER_HIGHER] = "higher", [BETTER_LOWER] = "lower", [BETTER_NEITHER] = "neither"};
	json_t *object = json_object(), *samples = json_array();
	struct stats stats;

	stats_of(metric->samples, metric->n, doc->seed, &stats);
	for (size_t i = 0; i < metric->n; i++)
		doc_push(doc, samples, doc_number(metric->samples[i]));
	doc_put(doc, object, "name", doc_text(metric->def->name));
	doc_put(doc, object, "unit", doc_unit(metric->def->unit));
	doc_put(doc, object, "better", json_string(better[metric->def->better]));
	doc_put(doc, object, "observer", doc_text(metric->def->observer));
	doc_put(doc, object, "layer", doc_text(metric->def->layer));
	doc_put(doc, object, "n", doc_count(stats.n));
	doc_put(doc, object, "median", doc_number(stats.median));
	doc_put(doc, object, "mad", doc_number(stats.mad));
	doc_put(doc, object, "min", doc_number(stats.min));
	doc_put(doc, object, "max", doc_number(stats.max));
	doc_put(doc, object, "ci95", doc_interval(doc, stats.ci_lo, stats.ci_hi));
	doc_put(doc, object, "samples", samples);
	return object;
}

static json_t *ledger_json(struct doc *doc, const struct ledger *ledger)
{
	json_t *object, *drops;

	if (!ledger->present)
		return json_null();
	object = json_object();
	drops = json_object();
	for (size_t i = 0; i < ledger->n_drops; i++)
		doc_put(doc, drops, ledger->drops[i].name, doc_count(ledger->drops[i].count));
	doc_put(doc, object, "sent", doc_count(ledger->sent));
	doc_put(doc, object, "delivered", doc_count(ledger->delivered));
	doc_put(doc, object, "duplicates", doc_count(ledger->duplicates));
	doc_put(doc, object, "drops", drops);
	doc_put(doc, object, "residual", json_integer(ledger->residual));
	doc_put(doc, object, "trials", json_integer(ledger->trials));
	doc_put(doc, object, "trials_closed", json_integer(ledger->trials_closed));
	return object;
}

static json_t *findings_json(struct doc *doc, const struct findings *findings)
{
	json_t *array = json_array();

	for (size_t i = 0; i < findings->n; i++) {
		json_t *object = json_object();

		doc_put(doc, object, "what", doc_text(findings->list[i].what));
		doc_put(doc, object, "ok", json_boolean(findings->list[i].ok));
		doc_put(doc, object, "detail", doc_text(findings->list[i].detail));
		doc_put(doc, object, "checked", json_integer(findings->list[i].checked));
		doc_put(doc, object, "failed", json_integer(findings->list[i].failed));
		doc_push(doc, array, object);
	}
	return array;
}

static json_t *cpus_json(struct doc *doc, const struct result_case *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n_cpus; i++) {
		const struct cpu_share *share = &c->cpus[i];
		json_t *object = json_object();

		doc_put(doc, object, "cpu", json_integer(share->cpu));
		doc_put(doc, object, "user", share_json(share->user));
		doc_put(doc, object, "system", share_json(share->system));
		doc_put(doc, object, "irq", share_json(share->irq));
		doc_put(doc, object, "softirq", share_json(share->softirq));
		doc_put(doc, object, "steal", share_json(share->steal));
		doc_put(doc, object, "idle", share_json(share->idle));
		doc_push(doc, array, object);
	}
	return array;
}

static json_t *intervals_json(struct doc *doc, const struct result_case *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n_intervals; i++) {
		const struct interval *interval = &c->intervals[i];
		json_t *object = json_object();

		doc_put(doc, object, "trial", json_integer(interval->trial));
		doc_put(doc, object, "start_s", doc_number(interval->start_s));
		doc_put(doc, object, "end_s", doc_number(interval->end_s));
		doc_put(doc, object, "value", doc_number(interval->value));
		doc_push(doc, array, object);
	}
	return array;
}

/* A verdict is never written without a reason, even if there was no memory to keep it. */
static const char *reason_of(const struct result_case *c)
{
	if (c->reason || c->status == CASE_OK || c->status == CASE_PENDING)
		return c->reason;
	return "the reason was lost";
}

static bool all_decided(const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].status == CASE_PENDING)
			return false;
	return true;
}

static json_t *case_json(struct doc *doc, const struct result_case *c)
{
	json_t *object = json_object(), *labels = json_object(), *metrics = json_array();
	json_t *trials = json_object();

	for (size_t i = 0; i < c->n_labels; i++)
		doc_put(doc, labels, c->labels[i].name, doc_text(c->labels[i].value));
	for (size_t i = 0; i < c->n_metrics; i++)
		doc_push(doc, metrics, metric_json(doc, &c->metrics[i]));
	doc_put(doc, trials, "done", json_integer(c->trials_done));
	doc_put(doc, trials, "wanted", json_integer(c->trials_wanted));
	doc_put(doc, object, "name", doc_text(c->name));
	doc_put(doc, object, "labels", labels);
	doc_put(doc, object, "status", json_string(case_status_name(c->status)));
	doc_put(doc, object, "reason", doc_text(reason_of(c)));
	doc_put(doc, object, "remark", doc_text(c->remark));
	doc_put(doc, object, "trials", trials);
	doc_put(doc, object, "metrics", metrics);
	doc_put(doc, object, "ledger", ledger_json(doc, &c->ledger));
	doc_put(doc, object, "proofs", findings_json(doc, &c->proofs));
	doc_put(doc, object, "validity", findings_json(doc, &c->validity));
	doc_put(doc, object, "cpu", cpus_json(doc, c));
	doc_put(doc, object, "intervals", intervals_json(doc, c));
	doc_put(doc, object, "generator_limited", json_boolean(c->generator_limited));
	doc_put(doc, object, "versus", doc_versus(doc, c));
	doc_put(doc, object, "searches", doc_searches(doc, c));
	doc_put(doc, object, "curves", doc_curves(doc, c));
	return object;
}

static json_t *result_json(struct doc *doc, const struct result *result)
{
	bool complete = result->complete && !result->error && all_decided(result);
	const char *error = result->error;
	json_t *object = json_object(), *cases = json_array();

	/* A document that is not complete always says why. */
	if (!complete && !error)
		error = "the run did not finish";
	for (size_t i = 0; i < result->n_cases; i++)
		doc_push(doc, cases, case_json(doc, &result->cases[i]));
	doc_put(doc, object, "schema", json_string("netbench-result/1"));
	doc_put(doc, object, "complete", json_boolean(complete));
	doc_put(doc, object, "error", doc_text(error));
	doc_put(doc, object, "started", started_json(result->started_unix));
	doc_put(doc, object, "command", command_json(doc, result->command));
	doc_put(doc, object, "netbench", build_json(doc));
	doc_put(doc, object, "host", host_json(doc, result));
	doc_put(doc, object, "suite", suite_json(doc, result));
	doc_put(doc, object, "cases", cases);
	doc_put(doc, object, "fits", doc_fits(doc, result));
	return object;
}

static int write_part(const char *buf, size_t len, void *out)
{
	return fwrite(buf, 1, len, out) == len ? 0 : -1;
}

int result_write_json(const struct result *result, FILE *out, struct err *err)
{
	struct doc doc = {.seed = result->seed};
	json_t *root = result_json(&doc, result);
	int ret = 0;

	if (doc.failed || !root) {
		ret = err_sys(err, ENOMEM, "cannot put the result together");
		goto free_root;
	}
	/* 15 digits are what a double always holds; 17 would print 0.1 as 0.10000000000000001. */
	errno = 0;
	if (json_dump_callback(root, write_part, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) ||
	    fputc('\n', out) == EOF || fflush(out) || ferror(out))
		ret = err_sys(err, errno ? errno : EIO, "cannot write the result");
free_root:
	json_decref(root);
	return ret;
}
