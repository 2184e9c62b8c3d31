/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds a result to its rules, its document to the schema, and its page to the eye. */
#include "result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/result_text.h"

static const struct metric_def goodput = {"goodput", "bit/s", BETTER_HIGHER, "receiver",
					  "L4 payload"};
static const struct metric_def retransmits = {"retransmits", "", BETTER_LOWER, "sender", NULL};
static const struct metric_def loss = {"loss", "ratio", BETTER_LOWER, "receiver", NULL};
static const struct metric_def latency_p50 = {"latency_p50", "ns", BETTER_LOWER, "receiver", NULL};
static const struct metric_def latency_p999 = {"latency_p999", "ns", BETTER_LOWER, "receiver",
					       NULL};

static int setup(void **state)
{
	*state = result_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	result_free(*state);
	return 0;
}

static struct result_case *add_case(struct result *result, const char *name,
				    enum case_status status)
{
	struct result_case *c = result_add_case(result, name);

	assert_non_null(c);
	if (status == CASE_OK)
		case_worsen(c, CASE_OK, NULL);
	else
		case_worsen(c, status, "reason of %s", name);
	return c;
}

static void samples(struct result_case *c, const struct metric_def *def, size_t n, ...)
{
	va_list ap;

	va_start(ap, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(case_add_sample(c, def, va_arg(ap, double)), 0);
	va_end(ap);
	c->trials_done = c->trials_wanted = (unsigned int)n;
}

static void worse_wins_and_keeps_its_first_reason(void **state)
{
	struct result_case *c = result_add_case(*state, "c");

	assert_int_equal(c->status, CASE_PENDING);
	case_worsen(c, CASE_OK, NULL);
	assert_int_equal(c->status, CASE_OK);
	assert_null(c->reason);
	case_worsen(c, CASE_SUSPECT, "steal %d %%", 4);
	case_worsen(c, CASE_SUSPECT, "later");
	assert_string_equal(c->reason, "steal 4 %");
	case_worsen(c, CASE_FAILED, "no route");
	case_worsen(c, CASE_SUSPECT, "later");
	case_worsen(c, CASE_OK, NULL);
	assert_int_equal(c->status, CASE_FAILED);
	case_worsen(c, CASE_VOID, "bypassed");
	case_worsen(c, CASE_FAILED, "later");
	assert_int_equal(c->status, CASE_VOID);
	assert_string_equal(c->reason, "bypassed");
}

static void findings_of_the_same_name_are_one(void **state)
{
	struct result_case *c = result_add_case(*state, "c");

	assert_int_equal(findings_add(&c->proofs, true, "path", "first"), 0);
	assert_int_equal(findings_add(&c->proofs, true, "path", "second"), 0);
	assert_int_equal(findings_add(&c->proofs, true, "kind", "veth"), 0);
	assert_int_equal(c->proofs.n, 2);
	assert_string_equal(c->proofs.list[0].detail, "second");
	assert_int_equal(findings_add(&c->proofs, false, "path", "%d of %d", 3, 4), 0);
	assert_int_equal(findings_add(&c->proofs, false, "path", "fourth"), 0);
	assert_int_equal(findings_add(&c->proofs, true, "path", "fifth"), 0);
	assert_false(c->proofs.list[0].ok);
	assert_string_equal(c->proofs.list[0].detail, "3 of 4");
	assert_int_equal(c->proofs.list[0].checked, 5);
	assert_int_equal(c->proofs.list[0].failed, 2);
	assert_true(c->proofs.list[1].ok);
	assert_int_equal(c->proofs.list[1].failed, 0);
}

static void a_suspect_case_names_all_that_failed(void **state)
{
	struct result_case *c = result_add_case(*state, "c"), *side;

	for (int i = 0; i < 3; i++) {
		findings_add(&c->validity, i != 1, "clock", "%d MHz", 1000 + i);
		findings_add(&c->validity, true, "steal", "0 %%");
		findings_add(&c->validity, i == 0, "other processes", "%d %% of a CPU", 31 * i);
	}
	/* Findings alone are no verdict. */
	case_worsen(c, CASE_OK, NULL);
	assert_int_equal(case_sum_up(c), 0);
	assert_null(c->reason);
	case_worsen(c, CASE_SUSPECT, "other processes used 31 %% of a CPU");
	assert_int_equal(case_sum_up(c), 0);
	assert_string_equal(c->reason, "clock: 1001 MHz (1 of 3 trials); "
				       "other processes: 31 % of a CPU (2 of 3)");
	/* What ran beside has the reason of the main case and no findings. */
	side = result_add_case(*state, "side");
	case_worsen(side, CASE_SUSPECT, "steal 4 %%");
	assert_int_equal(case_sum_up(side), 0);
	assert_string_equal(side->reason, "steal 4 %");
	/* One trial needs no count; and what is worse than suspect keeps its own reason. */
	findings_add(&side->validity, false, "timing", "late");
	assert_int_equal(case_sum_up(side), 0);
	assert_string_equal(side->reason, "timing: late");
	case_worsen(side, CASE_VOID, "bypassed");
	assert_int_equal(case_sum_up(side), 0);
	assert_string_equal(side->reason, "bypassed");
}

static void drops_of_the_same_name_add_up(void **state)
{
	struct result_case *c = result_add_case(*state, "c");

	assert_int_equal(case_add_drop(c, "socket buffer", 3), 0);
	assert_int_equal(case_add_drop(c, "qdisc", 1), 0);
	assert_int_equal(case_add_drop(c, "socket buffer", 4), 0);
	assert_int_equal(c->ledger.n_drops, 2);
	assert_true(c->ledger.drops[0].count == 7 && c->ledger.drops[1].count == 1);
}

static void lists_grow(void **state)
{
	struct result *result = *state;
	char name[16];

	for (unsigned int i = 0; i < 100; i++) {
		struct result_case *c;

		snprintf(name, sizeof(name), "case %u", i);
		c = result_add_case(result, name);
		assert_non_null(c);
		for (unsigned int k = 0; k < i; k++) {
			struct interval interval = {.trial = k, .value = k};

			assert_int_equal(case_add_interval(c, &interval), 0);
			assert_int_equal(case_add_sample(c, &goodput, k), 0);
			assert_int_equal(case_add_label(c, name, "x"), 0);
		}
	}
	assert_int_equal(result->n_cases, 100);
	assert_string_equal(result->cases[37].name, "case 37");
	assert_int_equal(result->cases[99].n_intervals, 99);
	assert_int_equal(result->cases[99].intervals[98].trial, 98);
	assert_int_equal(case_metric(&result->cases[99], "goodput")->n, 99);
	assert_null(case_metric(&result->cases[99], "loss"));
	assert_true(result->cases[99].metrics[0].samples[50] == 50);
}

static void exit_codes(void **state)
{
	struct result *result = *state;

	assert_int_equal(result_exit_code(result), 3);
	add_case(result, "a", CASE_SKIPPED);
	add_case(result, "b", CASE_PENDING);
	assert_int_equal(result_exit_code(result), 3);
	add_case(result, "c", CASE_SUSPECT);
	assert_int_equal(result_exit_code(result), 0);
	add_case(result, "d", CASE_VOID);
	assert_int_equal(result_exit_code(result), 1);
}

static void a_full_document(void **state)
{
	struct result *result = *state;
	char *const argv[] = {"netbench", "run", "--json", NULL};
	struct cpu_share shares[] = {{0, 0.25, 0.25, 0, 0.25, 0, 0.25},
				     /* The sum of three means may be off by the last bit. */
				     {1, 0, -1e-17, 0, 0, 0, 1.0000000000000002}};
	struct interval interval = {.trial = 1, .start_s = 0.5, .end_s = 1, .value = 7e9};
	struct result_case *c;
	json_t *root;

	result->complete = true;
	result->seed = 4711;
	result->started_unix = 1796066211;
	result->suite = strdup("quick");
	result_set_command(result, 3, argv);
	result_add_fact(&result->host, &result->n_host, "kernel", "6.18");
	result_add_fact(&result->host, &result->n_host, "board", NULL);
	result_add_fact(&result->host, &result->n_host, "cpus", "2");
	result_add_fact(&result->host, &result->n_host, "microcode", "64");
	result_add_fact(&result->host, &result->n_host, "net.core.rmem_max", "212992");
	result_add_fact(&result->host, &result->n_host, "net.ipv4.tcp_rmem", "4096 131072 6291456");
	result_add_fact(&result->options, &result->n_options, "duration", "2s");
	c = add_case(result, "tcp", CASE_OK);
	samples(c, &goodput, 4, 7.0e9, NAN, 7.2e9, 7.1e9);
	samples(c, &retransmits, 2, NAN, INFINITY);
	case_add_label(c, "offloads", "off");
	c->ledger.present = true;
	c->ledger.sent = 100;
	c->ledger.delivered = 93;
	c->ledger.trials = c->ledger.trials_closed = 4;
	case_add_drop(c, "socket buffer", 7);
	findings_add(&c->proofs, true, "path", "all of them");
	c->cpus = malloc(sizeof(shares));
	memcpy(c->cpus, shares, sizeof(shares));
	c->n_cpus = 2;
	case_add_interval(c, &interval);
	root = document(result);
	assert_json_text(root, "schema", "netbench-result/1");
	assert_true(json_is_true(at(root, "complete")));
	assert_true(json_is_null(at(root, "error")));
	assert_json_text(root, "started", "2026-11-30T19:16:51Z");
	assert_json_text(root, "command/2", "--json");
	assert_json_text(root, "host/kernel", "6.18");
	assert_true(json_is_null(at(root, "host/board")));
	assert_int_equal(json_integer_value(at(root, "host/cpus")), 2);
	assert_int_equal(json_integer_value(at(root, "host/net.core.rmem_max")), 212992);
	assert_json_text(root, "host/net.ipv4.tcp_rmem", "4096 131072 6291456");
	assert_json_text(root, "host/microcode", "64");
	assert_non_null(at(root, "netbench/libs/libmnl"));
	assert_json_text(root, "cases/0/metrics/0/unit", "bit/s");
	assert_json_text(root, "cases/0/metrics/1/unit", "1");
	assert_int_equal(json_integer_value(at(root, "cases/0/ledger/trials_closed")), 4);
	assert_int_equal(json_integer_value(at(root, "cases/0/proofs/0/checked")), 1);
	assert_int_equal(json_integer_value(at(root, "cases/0/proofs/0/failed")), 0);
	assert_int_equal(json_integer_value(at(root, "suite/seed")), 4711);
	assert_int_equal(json_integer_value(at(root, "cases/0/metrics/0/n")), 3);
	assert_true(json_real_value(at(root, "cases/0/metrics/0/median")) == 7.1e9);
	assert_true(json_is_null(at(root, "cases/0/metrics/0/samples/1")));
	assert_true(json_is_null(at(root, "cases/0/metrics/1/samples/1")));
	assert_int_equal(json_integer_value(at(root, "cases/0/ledger/drops/socket buffer")), 7);
	assert_true(json_real_value(at(root, "cases/0/cpu/1/idle")) == 1);
	assert_true(json_is_null(at(root, "cases/0/remark")));
	json_decref(root);
}

/* Refused before anything was planned: nothing is known but the reason. */
static void nothing_but_an_error(void **state)
{
	struct result *result = *state;
	json_t *root;

	result->error = strdup("no privilege to create a network namespace");
	root = document(result);
	assert_true(json_is_false(at(root, "complete")));
	assert_json_text(root, "error", "no privilege to create a network namespace");
	assert_int_equal(json_array_size(at(root, "cases")), 0);
	assert_true(json_is_null(at(root, "suite/name")));
	assert_true(json_is_null(at(root, "started")));
	json_decref(root);
}

static void what_contradicts_itself_is_not_complete(void **state)
{
	struct result *result = *state;
	json_t *root;

	root = document(result);
	assert_true(json_is_false(at(root, "complete")));
	assert_json_text(root, "error", "the run did not finish");
	json_decref(root);
	result->complete = true;
	add_case(result, "late", CASE_PENDING);
	root = document(result);
	assert_true(json_is_false(at(root, "complete")));
	json_decref(root);
}

static void interrupted(void **state)
{
	struct result *result = *state;
	json_t *root;

	result->error = strdup("interrupted");
	samples(add_case(result, "a", CASE_OK), &goodput, 1, 5e9);
	add_case(result, "b", CASE_FAILED);
	add_case(result, "c", CASE_SKIPPED);
	add_case(result, "d", CASE_VOID);
	add_case(result, "e", CASE_PENDING);
	result->cases[1].trials_wanted = 5;
	root = document(result);
	assert_json_text(root, "cases/1/reason", "reason of b");
	assert_json_text(root, "cases/4/status", "pending");
	json_decref(root);
}

static void bytes_that_are_not_utf8(void **state)
{
	struct result *result = *state;
	char *const argv[] = {"netbench", "caf\xe9 caf\xc3\xa9 \xf0\x9f", NULL};
	json_t *root;

	assert_int_equal(result_set_command(result, 2, argv), 0);
	root = document(result);
	assert_json_text(root, "command/1", "caf\xef\xbf\xbd caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd");
	json_decref(root);
}

static void a_huge_seed_is_not_rounded(void **state)
{
	struct result *result = *state;
	json_t *root;

	result->seed = UINT64_MAX;
	root = document(result);
	assert_json_text(root, "suite/seed", "18446744073709551615");
	json_decref(root);
}

static void a_full_disk_is_an_error(void **state)
{
	struct result *result = *state;
	FILE *out = fopen("/dev/full", "w");
	struct err err;

	if (!out) {
		print_message("no /dev/full here\n");
		skip();
	}
	assert_int_equal(result_write_json(result, out, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write the result: No space left on device");
	fclose(out);
	out = fopen("/dev/full", "w");
	assert_int_equal(result_write_table(result, out, &(struct table_style){0}, &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write the table: No space left on device");
	fclose(out);
}

/* From the first line that starts with `from` on. */
static void assert_page(const struct result *result, unsigned int width, const char *from,
			const char *want)
{
	char *text = page(result, false, width), *start = strstr(text, from);

	assert_non_null(start);
	assert_true(start == text || start[-1] == '\n');
	assert_string_equal(start + strlen(from), want);
	free(text);
}

static void some_cases(struct result *result)
{
	static const char *const host[][2] = {
		{"kernel", "6.18"},  {"arch", "x86_64"},
		{"cpus", "2"},	     {"cpu", "Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz"},
		{"preempt", "none"}, {"cpu_mhz_measured", "2596"},
	};
	struct result_case *c;

	result->complete = true;
	result->seed = 7;
	result->suite = strdup("quick");
	for (size_t i = 0; i < sizeof(host) / sizeof(*host); i++)
		result_add_fact(&result->host, &result->n_host, host[i][0], host[i][1]);
	c = add_case(result, "tcp/on", CASE_OK);
	samples(c, &goodput, 3, 20.7e9, 20.9e9, 21.1e9);
	samples(c, &retransmits, 3, 0.0, 0.0, 0.0);
	c->remark = strdup("super-packets: not a rate of any wire");
	c->cpus = calloc(2, sizeof(*c->cpus));
	c->n_cpus = 2;
	c->cpus[0] = (struct cpu_share){0, 0.1, 0.5, 0, 0.2, 0.1, 0.1};
	c->cpus[1] = (struct cpu_share){1, 0, 0.5, 0.2, 0, 0, 0.3};
	c = add_case(result, "udp", CASE_SUSPECT);
	samples(c, &goodput, 1, 271e6);
	samples(c, &loss, 1, 0.0003);
	samples(c, &latency_p50, 1, 2900.0);
	samples(c, &latency_p999, 1, 14200.0);
	c->trials_wanted = 3;
	c->ledger.present = true;
	c->ledger.trials = c->ledger.trials_closed = 1;
	add_case(result, "broken", CASE_FAILED);
	add_case(result, "wg/a", CASE_SKIPPED);
	add_case(result, "wg/b", CASE_SKIPPED);
	free(result->cases[4].reason);
	result->cases[4].reason = strdup("reason of wg/a");
}

static void a_wide_page(void **state)
{
	char version[64];

	some_cases(*state);
	snprintf(version, sizeof(version), "netbench %s", result_version());
	assert_page(*state, 0, version,
		    "  quick  Linux 6.18 x86_64  2 × Intel Xeon E5-2670 v3, 2596 MHz measured  "
		    "preempt none  seed 7\n"
		    "case    what          median    ±95 %     p50 / p99.9  CPUs busy  verdict  "
		    "remark\n"
		    "tcp/on  goodput  20.9 Gbit/s    1.0 %                       1.50  ok       "
		    "super-packets: not a rate of any wire\n"
		    "udp     goodput   271 Mbit/s !      –  2.90 / 14.2 µs             suspect  "
		    "loss 0.03 %; 1 of 3 trials\n"
		    "broken                       x                                    failed\n"
		    "! suspect; x failed or void\n"
		    "suspect: udp: reason of udp\n"
		    "failed: broken: reason of broken\n"
		    "UDP: every packet accounted for in 1 of 1 trials.\n"
		    "Skipped: wg/a, wg/b (reason of wg/a)\n");
}

static void a_narrow_page(void **state)
{
	some_cases(*state);
	/* Where the first line breaks depends on the length of the version. */
	assert_page(*state, 72, "case ",
		    "   what          median    ±95 %     p50 / p99.9  CPUs busy\n"
		    "tcp/on  goodput  20.9 Gbit/s    1.0 %                       1.50\n"
		    "udp     goodput   271 Mbit/s !      –  2.90 / 14.2 µs\n"
		    "broken                       x\n"
		    "! suspect; x failed or void\n"
		    "tcp/on: super-packets: not a rate of any wire\n"
		    "udp: loss 0.03 %; 1 of 3 trials\n"
		    "suspect: udp: reason of udp\n"
		    "failed: broken: reason of broken\n"
		    "UDP: every packet accounted for in 1 of 1 trials.\n"
		    "Skipped: wg/a, wg/b (reason of wg/a)\n");
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	some_cases(*state);
	for (unsigned int width = 40; width < 120; width++) {
		char *text = page(*state, false, width);

		if (longest_line(text) > width)
			fail_msg("%zu columns instead of %u:\n%s", longest_line(text), width, text);
		assert_non_null(strstr(text, "super-packets"));
		free(text);
	}
}

static void colors_only_when_asked_for(void **state)
{
	char *plain, *colored;

	some_cases(*state);
	plain = page(*state, false, 0);
	colored = page(*state, true, 0);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(colored, "\033[32mok"));
	assert_non_null(strstr(colored, "\033[31mfailed"));
	free(plain);
	free(colored);
}

/* The mark stays when the verdict, and all else but the number, has no room. */
static void the_narrowest_page(void **state)
{
	some_cases(*state);
	assert_page(*state, 30, "case ",
		    "        median    ±95 %\n"
		    "tcp/on  20.9 Gbit/s    1.0 %\n"
		    "udp      271 Mbit/s !      –\n"
		    "broken              x\n"
		    "! suspect; x failed or void\n"
		    "tcp/on: super-packets: not a\n"
		    "    rate of any wire\n"
		    "udp: loss 0.03 %; 1 of 3\n"
		    "    trials\n"
		    "suspect: udp: reason of udp\n"
		    "failed: broken: reason of\n"
		    "    broken\n"
		    "UDP: every packet accounted\n"
		    "    for in 1 of 1 trials.\n"
		    "Skipped: wg/a, wg/b (reason of\n"
		    "    wg/a)\n");
}

static void packets_are_accounted_for_only_if_they_are(void **state)
{
	struct result *result = *state;
	struct ledger *ledger;
	char *text;

	some_cases(result);
	ledger = &result->cases[0].ledger;
	ledger->present = true;
	ledger->trials = ledger->trials_closed = 3;
	text = page(result, false, 0);
	assert_non_null(strstr(text, "UDP: every packet accounted for in 4 of 4 trials.\n"));
	free(text);
	ledger->residual = -1;
	ledger->trials_closed = 2;
	text = page(result, false, 0);
	assert_null(strstr(text, "every packet"));
	assert_non_null(strstr(text, "UDP: packets unaccounted for in 1 of 4 trials.\n"));
	free(text);
}

static const struct metric_def delivered = {"delivered", "packet/s", BETTER_HIGHER, NULL, NULL};

/* The page has one row, for a case with these metrics in this order; it must contain the text. */
static void assert_row(struct result *result, const char *want)
{
	char *text = page(result, false, 0);

	if (!strstr(text, want))
		fail_msg("no '%s' in:\n%s", want, text);
	free(text);
}

static void remarks_qualify_the_number(void **state)
{
	static const struct metric_def there = {"goodput_forward", "bit/s", BETTER_HIGHER, NULL,
						NULL};
	static const struct metric_def back = {"goodput_reverse", "bit/s", BETTER_HIGHER, NULL,
					       NULL};
	static const struct metric_def ratio = {"retransmit_ratio", "ratio", BETTER_LOWER, NULL,
						NULL};
	static const struct metric_def cpu_per_gb = {"cpu_per_gb", "s/GB", BETTER_LOWER, NULL,
						     NULL};
	struct result_case *c = add_case(*state, "c", CASE_OK);

	samples(c, &goodput, 1, 7.58e9);
	samples(c, &there, 1, 3.6e9);
	samples(c, &back, 1, 3.98e9);
	samples(c, &retransmits, 1, 1.0);
	samples(c, &cpu_per_gb, 1, 5.4);
	assert_row(*state, "ok       3.60 → 3.98 ← Gbit/s; 1 retransmit; CPU 5.40 s/GB\n");
	c->metrics[2].samples[0] = 98e6;
	c->metrics[3].samples[0] = 2500;
	samples(c, &ratio, 1, 0.0123);
	assert_row(*state,
		   "ok       3.60 Gbit/s →, 98.0 Mbit/s ←; 2.50 k retransmits (1.2 %); CPU ");
}

static void remarks_on_packets(void **state)
{
	static const struct metric_def sent = {"sent", "packet/s", BETTER_NEITHER, NULL, NULL};
	static const struct metric_def asked = {"asked", "packet/s", BETTER_NEITHER, NULL, NULL};
	static const struct metric_def cost = {"cost", "ns", BETTER_LOWER, NULL, NULL};
	struct result_case *c = add_case(*state, "c", CASE_OK);

	samples(c, &delivered, 1, 585e3);
	samples(c, &sent, 1, 585e3);
	samples(c, &cost, 1, 3210.0);
	assert_row(*state, "ok       CPU 3.21 µs a packet\n");
	samples(c, &asked, 1, 5e6);
	assert_row(*state, "ok       sent 585 kpps of 5.00 Mpps asked; CPU 3.21 µs a packet\n");
	c->metrics[3].samples[0] = 590e3;
	assert_row(*state, "ok       CPU 3.21 µs a packet\n");
}

static void a_wide_spread_gets_advice(void **state)
{
	struct result_case *c = add_case(*state, "c", CASE_OK);

	samples(c, &goodput, 3, 1e9, 1.04e9, 1.08e9);
	assert_row(*state, "ok\n");
	c->metrics[0].samples[0] = 0.4e9;
	assert_row(*state, "ok       spread ±33 %: try -n 10\n");
	/* One trial has no spread to speak of. */
	c->metrics[0].n = 1;
	assert_row(*state, "–  ok\n");
	c->metrics[0].n = 3;
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(case_add_sample(c, &goodput, i < 5 ? 2e9 : 0.4e9), 0);
	assert_row(*state, "try -n 24\n");
}

static void a_maximum_stands_in_for_an_unknown_quantile(void **state)
{
	static const struct metric_def max = {"latency_max", "ns", BETTER_LOWER, NULL, NULL};
	struct result_case *c = add_case(*state, "c", CASE_OK);

	samples(c, &latency_p50, 1, 82700.0);
	samples(c, &latency_p999, 1, NAN);
	samples(c, &max, 1, 243e3);
	assert_row(*state, "82.7 / max 243 µs  ok\n");
	c->metrics[1].samples[0] = 193e3;
	assert_row(*state, "82.7 / 193 µs  ok\n");
}

static void busy_cpus_say_whose(void **state)
{
	struct result_case *c = add_case(*state, "c", CASE_SUSPECT);
	struct cpu_share share = {.cpu = 0, .user = 0.5, .system = 0.5};

	samples(c, &goodput, 1, 1e9);
	assert_int_equal(case_add_cpus(c, &share, 1), 0);
	findings_add(&c->validity, true, "other processes", "1 %% of a CPU");
	assert_row(*state, "     1.00  suspect\n");
	assert_row(*state, "\n! suspect\n");
	findings_add(&c->validity, false, "other processes", "31 %% of a CPU");
	assert_row(*state, "     1.00 !  suspect\n");
	assert_row(*state, "\n! suspect; ! of CPUs: other processes among them\n");
}

static void a_run_that_was_cut_short(void **state)
{
	struct result *result = *state;

	add_case(result, "a", CASE_PENDING);
	add_case(result, "b", CASE_PENDING);
	result->error = strdup("interrupted");
	assert_page(result, 0, "Not run: ", "a, b\nNot complete: interrupted\n");
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(worse_wins_and_keeps_its_first_reason),
		UNIT(findings_of_the_same_name_are_one),
		UNIT(a_suspect_case_names_all_that_failed),
		UNIT(drops_of_the_same_name_add_up),
		UNIT(lists_grow),
		UNIT(exit_codes),
		UNIT(a_full_document),
		UNIT(nothing_but_an_error),
		UNIT(what_contradicts_itself_is_not_complete),
		UNIT(interrupted),
		UNIT(bytes_that_are_not_utf8),
		UNIT(a_huge_seed_is_not_rounded),
		UNIT(a_full_disk_is_an_error),
		UNIT(a_wide_page),
		UNIT(a_narrow_page),
		UNIT(the_narrowest_page),
		UNIT(no_line_is_wider_than_the_terminal),
		UNIT(colors_only_when_asked_for),
		UNIT(packets_are_accounted_for_only_if_they_are),
		UNIT(remarks_qualify_the_number),
		UNIT(remarks_on_packets),
		UNIT(a_wide_spread_gets_advice),
		UNIT(a_maximum_stands_in_for_an_unknown_quantile),
		UNIT(busy_cpus_say_whose),
		UNIT(a_run_that_was_cut_short),
	};

	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
