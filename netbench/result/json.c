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

/*
 * Building a document fails only for want of memory. The value goes into the object or is freed;
 * one failure anywhere spoils the whole, so it is noted and looked at once, in the end.
 */
struct doc {
	bool failed;
	uint64_t seed;
};

static void put(struct doc *doc, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		doc->failed = true;
}

static void push(struct doc *doc, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		doc->failed = true;
}

/* How many bytes at text form one UTF-8 character; 0 when they do not. */
static size_t character(const char *text)
{
	for (size_t len = 1; len <= 4 && text[len - 1]; len++) {
		json_t *valid = json_stringn(text, len);

		json_decref(valid);
		if (valid)
			return len;
	}
	return 0;
}

/* Arguments and file names are bytes; JSON is UTF-8. What is not becomes U+FFFD, one per byte. */
static json_t *repaired(const char *text)
{
	char *buf = malloc(3 * strlen(text) + 1), *end = buf;
	json_t *string;

	if (!buf)
		return NULL;
	while (*text) {
		size_t len = character(text);

		end = mempcpy(end, len ? text : "\xef\xbf\xbd", len ? len : 3);
		text += len ? len : 1;
	}
	*end = '\0';
	string = json_string(buf);
	free(buf);
	return string;
}

static json_t *text_or_null(const char *text)
{
	json_t *string;

	if (!text)
		return json_null();
	string = json_string(text);
	return string ? string : repaired(text);
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* A mean of shares may miss 0 or 1 by the last bit of a double. */
static json_t *share_json(double share)
{
	return isfinite(share) ? json_real(fmin(fmax(share, 0), 1)) : json_null();
}

/* jansson's integers are signed. */
static json_t *count_json(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

/* A seed may well be larger than that, and a rounded seed is worthless. */
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
		push(doc, array, text_or_null(command[i]));
	return array;
}

/* The build says "libmnl 1.0.4, jansson 2.14": names and versions as pkg-config has them. */
static json_t *libs_json(struct doc *doc)
{
	json_t *libs = json_object();
	char name[64], version[64];
	const char *list = NETBENCH_LIBS;
	int used;

	put(doc, libs, "libc", json_string(gnu_get_libc_version()));
	while (sscanf(list, " %63[^ ,] %63[^ ,]%n", name, version, &used) == 2) {
		put(doc, libs, name, json_string(version));
		list += used;
		list += *list == ',';
	}
	return libs;
}

static json_t *build_json(struct doc *doc)
{
	json_t *object = json_object();

	put(doc, object, "version", json_string(NETBENCH_VERSION));
	put(doc, object, "compiler", json_string(NETBENCH_COMPILER));
	put(doc, object, "libs", libs_json(doc));
	return object;
}

static json_t *facts_json(struct doc *doc, const struct fact *facts, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++)
		put(doc, object, facts[i].name, text_or_null(facts[i].value));
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
			put(doc, object, fact->name, json_integer(number));
		else
			put(doc, object, fact->name, text_or_null(fact->value));
	}
	return object;
}

static json_t *suite_json(struct doc *doc, const struct result *result)
{
	json_t *object = json_object();

	put(doc, object, "name", text_or_null(result->suite));
	put(doc, object, "file", text_or_null(result->suite_file));
	put(doc, object, "about", text_or_null(result->about));
	put(doc, object, "seed", seed_json(result->seed));
	put(doc, object, "options", facts_json(doc, result->options, result->n_options));
	return object;
}

static json_t *metric_json(struct doc *doc, const struct metric *metric)
{
	static const char *const better[] = {
		[BETTER_HIGHER] = "higher", [BETTER_LOWER] = "lower", [BETTER_NEITHER] = "neither"};
	json_t *object = json_object(), *ci = json_array(), *samples = json_array();
	struct stats stats;

	stats_of(metric->samples, metric->n, doc->seed, &stats);
	push(doc, ci, real_or_null(stats.ci_lo));
	push(doc, ci, real_or_null(stats.ci_hi));
	for (size_t i = 0; i < metric->n; i++)
		push(doc, samples, real_or_null(metric->samples[i]));
	put(doc, object, "name", text_or_null(metric->def->name));
	/* "1" is the unit of what has none (UCUM): an empty text would read as unknown. */
	put(doc, object, "unit", text_or_null(*metric->def->unit ? metric->def->unit : "1"));
	put(doc, object, "better", json_string(better[metric->def->better]));
	put(doc, object, "observer", text_or_null(metric->def->observer));
	put(doc, object, "layer", text_or_null(metric->def->layer));
	put(doc, object, "n", count_json(stats.n));
	put(doc, object, "median", real_or_null(stats.median));
	put(doc, object, "mad", real_or_null(stats.mad));
	put(doc, object, "min", real_or_null(stats.min));
	put(doc, object, "max", real_or_null(stats.max));
	put(doc, object, "ci95", ci);
	put(doc, object, "samples", samples);
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
		put(doc, drops, ledger->drops[i].name, count_json(ledger->drops[i].count));
	put(doc, object, "sent", count_json(ledger->sent));
	put(doc, object, "delivered", count_json(ledger->delivered));
	put(doc, object, "duplicates", count_json(ledger->duplicates));
	put(doc, object, "drops", drops);
	put(doc, object, "residual", json_integer(ledger->residual));
	put(doc, object, "trials", json_integer(ledger->trials));
	put(doc, object, "trials_closed", json_integer(ledger->trials_closed));
	return object;
}

static json_t *findings_json(struct doc *doc, const struct findings *findings)
{
	json_t *array = json_array();

	for (size_t i = 0; i < findings->n; i++) {
		json_t *object = json_object();

		put(doc, object, "what", text_or_null(findings->list[i].what));
		put(doc, object, "ok", json_boolean(findings->list[i].ok));
		put(doc, object, "detail", text_or_null(findings->list[i].detail));
		put(doc, object, "checked", json_integer(findings->list[i].checked));
		put(doc, object, "failed", json_integer(findings->list[i].failed));
		push(doc, array, object);
	}
	return array;
}

static json_t *cpus_json(struct doc *doc, const struct result_case *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n_cpus; i++) {
		const struct cpu_share *share = &c->cpus[i];
		json_t *object = json_object();

		put(doc, object, "cpu", json_integer(share->cpu));
		put(doc, object, "user", share_json(share->user));
		put(doc, object, "system", share_json(share->system));
		put(doc, object, "irq", share_json(share->irq));
		put(doc, object, "softirq", share_json(share->softirq));
		put(doc, object, "steal", share_json(share->steal));
		put(doc, object, "idle", share_json(share->idle));
		push(doc, array, object);
	}
	return array;
}

static json_t *intervals_json(struct doc *doc, const struct result_case *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n_intervals; i++) {
		const struct interval *interval = &c->intervals[i];
		json_t *object = json_object();

		put(doc, object, "trial", json_integer(interval->trial));
		put(doc, object, "start_s", real_or_null(interval->start_s));
		put(doc, object, "end_s", real_or_null(interval->end_s));
		put(doc, object, "value", real_or_null(interval->value));
		push(doc, array, object);
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
		put(doc, labels, c->labels[i].name, text_or_null(c->labels[i].value));
	for (size_t i = 0; i < c->n_metrics; i++)
		push(doc, metrics, metric_json(doc, &c->metrics[i]));
	put(doc, trials, "done", json_integer(c->trials_done));
	put(doc, trials, "wanted", json_integer(c->trials_wanted));
	put(doc, object, "name", text_or_null(c->name));
	put(doc, object, "labels", labels);
	put(doc, object, "status", json_string(case_status_name(c->status)));
	put(doc, object, "reason", text_or_null(reason_of(c)));
	put(doc, object, "remark", text_or_null(c->remark));
	put(doc, object, "trials", trials);
	put(doc, object, "metrics", metrics);
	put(doc, object, "ledger", ledger_json(doc, &c->ledger));
	put(doc, object, "proofs", findings_json(doc, &c->proofs));
	put(doc, object, "validity", findings_json(doc, &c->validity));
	put(doc, object, "cpu", cpus_json(doc, c));
	put(doc, object, "intervals", intervals_json(doc, c));
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
		push(doc, cases, case_json(doc, &result->cases[i]));
	put(doc, object, "schema", json_string("netbench-result/1"));
	put(doc, object, "complete", json_boolean(complete));
	put(doc, object, "error", text_or_null(error));
	put(doc, object, "started", started_json(result->started_unix));
	put(doc, object, "command", command_json(doc, result->command));
	put(doc, object, "netbench", build_json(doc));
	put(doc, object, "host", host_json(doc, result));
	put(doc, object, "suite", suite_json(doc, result));
	put(doc, object, "cases", cases);
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
