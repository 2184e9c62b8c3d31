/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run command, and the running of suites into a reported result. */
#include "cmd/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cmd/output.h"
#include "cmd/plan_json.h"
#include "host/fingerprint.h"
#include "result/result.h"
#include "run/privilege.h"
#include "run/run.h"
#include "suite/embedded.h"
#include "suite/plan.h"
#include "suite/suite.h"

struct session {
	struct run_cfg *cfg;
	struct suite **suites;
	struct plan **plans;
	size_t n;
	char **settings; /* path=value: --duration and friends, then --set */
	size_t n_settings;
	struct result *result;
	bool no_file; /* --output was refused */
	int interrupt_fd;
};

static int add_setting(struct session *s, const char *path, const char *value)
{
	char *text = NULL;

	if (!value)
		return 0;
	if (asprintf(&text, path ? "%s=%s" : "%s%s", path ? path : "", value) < 0)
		return -ENOMEM;
	s->settings[s->n_settings++] = text;
	return 0;
}

static int gather_settings(struct session *s, struct err *err)
{
	const struct run_cfg *cfg = s->cfg;
	int r;

	s->settings = calloc(cfg->set.n + 3, sizeof(*s->settings));
	if (!s->settings)
		return err_sys(err, ENOMEM, "cannot keep the settings");
	r = add_setting(s, "duration", cfg->duration);
	r = r ? r : add_setting(s, "warmup", cfg->warmup);
	r = r ? r : add_setting(s, "repeat", cfg->repeat);
	for (size_t i = 0; !r && i < cfg->set.n; i++)
		r = add_setting(s, NULL, cfg->set.list[i]);
	for (size_t i = 0; !r && i < s->n_settings; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(s->settings[i], "="),
			 s->settings[i]);
		r = result_add_fact(&s->result->options, &s->result->n_options, path,
				    strchrnul(s->settings[i], '=') +
					    (strchr(s->settings[i], '=') ? 1 : 0));
	}
	return r ? err_sys(err, r, "cannot keep the settings") : 0;
}

static uint64_t choose_seed(uint64_t wanted)
{
	uint32_t seed = 0;

	if (wanted)
		return wanted;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uint32_t)getpid();
	return seed % 1000000 + 1; /* short enough to be typed again */
}

static int read_plans(struct session *s, int (*open)(void *, size_t, struct suite **, struct err *),
		      void *context, struct err *err)
{
	const struct plan_options options = {.seed = s->result->seed,
					     .set = s->settings,
					     .n_set = s->n_settings,
					     .only = s->cfg->only};
	char names[512] = "";
	int r = 0;

	s->suites = calloc(s->n, sizeof(*s->suites));
	s->plans = calloc(s->n, sizeof(*s->plans));
	if (!s->suites || !s->plans)
		return err_sys(err, ENOMEM, "cannot keep %zu suites", s->n);
	for (size_t i = 0; !r && i < s->n; i++) {
		r = open(context, i, &s->suites[i], err);
		if (!r)
			r = plan_make(s->suites[i], &options, &s->plans[i], err);
		if (!r)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 i ? ", " : "", s->suites[i]->name);
	}
	if (r)
		return r;
	s->result->suite = strdup(names);
	s->result->suite_file = s->suites[0]->file ? strdup(s->suites[0]->file) : NULL;
	s->result->about = s->n == 1 && s->suites[0]->about ? strdup(s->suites[0]->about) : NULL;
	return s->result->suite ? 0 : err_sys(err, ENOMEM, "cannot keep the suite's name");
}

static int catch_signals(struct session *s, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(err, errno, "cannot catch signals");
	s->interrupt_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->interrupt_fd < 0 ? err_sys(err, errno, "cannot catch signals") : 0;
}

/* Many streams need many sockets; where that does not help, opening one tells. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool anything_to_run(const struct session *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->plans[i]->n_order)
			return true;
	return false;
}

static int run_all(struct session *s, struct err *err)
{
	struct run_options options = {
		.strict = s->cfg->strict,
		.verbose = s->cfg->common.verbose,
		.progress = output_width(stderr) > 0 && isatty(STDERR_FILENO),
		.log = stderr,
	};
	bool userns = false;
	int r = 0;

	allow_files();
	if (anything_to_run(s))
		r = privilege_gain(&userns, err);
	if (!r)
		r = fingerprint_read(NULL, &s->result->host, &s->result->n_host, err);
	if (!r && userns)
		r = result_add_fact(&s->result->host, &s->result->n_host, "user_namespace", "yes");
	if (!r)
		r = catch_signals(s, err);
	options.interrupt_fd = s->interrupt_fd;
	for (size_t i = 0; !r && i < s->n; i++) {
		options.prefix = s->n > 1 ? s->suites[i]->name : NULL;
		r = run_plan(s->plans[i], &options, s->result, err);
	}
	return r;
}

/* `-o -` is another way to say --json. */
static bool to_stdout(const struct session *s)
{
	return s->cfg->output && !strcmp(s->cfg->output, "-");
}

static int write_file(const struct session *s, struct err *err)
{
	FILE *file;
	int r;

	if (!s->cfg->output || s->no_file || to_stdout(s))
		return 0;
	r = output_open(s->cfg->output, &file, err);
	if (r)
		return r;
	r = result_write_json(s->result, file, err);
	if (r) {
		output_abandon(file, s->cfg->output);
		return r;
	}
	return output_commit(file, s->cfg->output, err);
}

/* A result is complete when the run went through and every case that could run has its trials. */
static void set_completeness(struct result *result, int ret, const struct err *why)
{
	const struct result_case *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		if (result->cases[i].status != CASE_FAILED)
			continue;
		first = n++ ? first : &result->cases[i];
	}
	result->complete = !ret && !n;
	if (ret)
		result->error = strdup(why->text);
	else if (n && asprintf(&result->error, "%zu of %zu cases failed, the first is '%s': %s", n,
			       result->n_cases, first->name, first->reason) < 0)
		result->error = NULL;
}

/* Everything the user gets to see in the end; ret is what the run returned. */
static int report(struct session *s, int ret, const struct err *why)
{
	const bool page = !s->cfg->common.json && !to_stdout(s) && s->result->n_cases;
	const struct table_style style = {.color = output_color(stdout),
					  .verbose = s->cfg->common.verbose,
					  .width = output_width(stdout)};
	struct err err, lost;
	int code, r = 0, filed;

	set_completeness(s->result, ret, why);
	code = ret == -ECANCELED ? EXIT_INTERRUPTED
	       : ret		 ? (int)cmd_exit_code(ret)
				 : result_exit_code(s->result);
	filed = write_file(s, &lost);
	if (page)
		r = result_write_table(s->result, stdout, &style, &err);
	else if (s->cfg->common.json || to_stdout(s))
		r = result_write_json(s->result, stdout, &err);
	if (!r)
		r = output_flush(stdout, &err);
	/* Below a table it is said that the user interrupted; that is no complaint. */
	if (ret && !(ret == -ECANCELED && page && !r))
		cmd_fail(code, why);
	if (filed)
		code = cmd_fail(code == EXIT_GOOD ? EXIT_FAILED : code, &lost);
	if (r)
		code = cmd_fail(code == EXIT_GOOD ? EXIT_FAILED : code, &err);
	return code;
}

static void end_session(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->plans)
			plan_free(s->plans[i]);
		if (s->suites)
			suite_free(s->suites[i]);
	}
	free(s->plans);
	free(s->suites);
	for (size_t i = 0; i < s->n_settings; i++)
		free(s->settings[i]);
	free(s->settings);
	if (s->interrupt_fd >= 0)
		close(s->interrupt_fd);
	result_free(s->result);
}

/* /proc/self/cmdline holds the words as they were typed; argv has been permuted by then. */
static int record_command(struct result *result)
{
	char words[4096] = {0}, *argv[256];
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t len;
	int argc = 0;

	if (!file)
		return 0;
	len = fread(words, 1, sizeof(words) - 1, file);
	fclose(file);
	for (size_t at = 0; at < len && argc < 255; at += strlen(words + at) + 1)
		argv[argc++] = words + at;
	return result_set_command(result, argc, argv);
}

static bool asks_for_json(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

/* Parses once more, for the sentence. argv is as it was typed. */
static void document_refusal(const struct cmd *self, int argc, char **argv)
{
	struct result *result = result_new();
	struct run_cfg cfg = {0};
	struct err err = {0};
	int r;

	r = opts_default(self->opts, &cfg, &err);
	if (!r)
		r = opts_argv(self->opts, &cfg, argc, argv, false, &err);
	opts_release(self->opts, &cfg);
	if (r < 0 && result && !record_command(result)) {
		result->started_unix = (int64_t)time(NULL);
		result->error = strdup(err.text);
		result_write_json(result, stdout, NULL);
	}
	result_free(result);
}

int run_parse(const struct cmd *self, struct run_cfg *cfg, int argc, char **argv, int *ret_exit)
{
	char **typed = calloc((size_t)argc + 1, sizeof(*typed));
	int n;

	if (!typed) {
		*ret_exit = cmd_complain(EXIT_FAILED, "out of memory");
		return -1;
	}
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	n = cmd_parse(self, cfg, argc, argv, false, ret_exit);
	if (n < 0 && *ret_exit == EXIT_USAGE && asks_for_json(argc, typed))
		document_refusal(self, argc, typed);
	free(typed);
	return n;
}

static int print_plans(const struct session *s)
{
	struct err err;
	json_t *doc;
	int r;

	if (s->cfg->common.json || to_stdout(s)) {
		doc = plans_json(s->plans, s->n, &err);
		if (!doc)
			return cmd_fail(EXIT_FAILED, &err);
		json_dumpf(doc, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		putchar('\n');
		json_decref(doc);
	} else {
		for (size_t i = 0; i < s->n; i++)
			plan_print(s->plans[i], stdout);
	}
	r = output_flush(stdout, &err);
	return r ? cmd_fail(EXIT_FAILED, &err) : EXIT_GOOD;
}

int run_suites(struct run_cfg *cfg, size_t n,
	       int (*open)(void *context, size_t i, struct suite **ret, struct err *err),
	       void *context)
{
	struct session s = {.cfg = cfg, .n = n, .interrupt_fd = -1};
	struct err err = {0};
	int r, code;

	s.result = result_new();
	if (!s.result || record_command(s.result))
		return cmd_complain(EXIT_FAILED, "out of memory");
	s.result->seed = choose_seed(cfg->seed);
	s.result->started_unix = (int64_t)time(NULL);
	r = gather_settings(&s, &err);
	if (!r && cfg->output && output_check(cfg->output, &err)) {
		s.no_file = true;
		r = -EINVAL;
	}
	if (!r)
		r = read_plans(&s, open, context, &err);
	if (!r && cfg->dry_run) {
		code = print_plans(&s);
	} else {
		if (!r)
			r = run_all(&s, &err);
		code = report(&s, r, &err);
	}
	end_session(&s);
	return code;
}

struct words {
	char **list;
};

static int open_word(void *context, size_t i, struct suite **ret, struct err *err)
{
	const struct words *words = context;

	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): i is below the number of words */
	return suite_open(words->list[i], ret, err);
}

static const struct opt opts[] = {
	RUN_OPTS,
	{.name = "only",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct run_cfg, only),
	 .metavar = "GLOB",
	 .help = "run only the cases whose names match, such as 'routed*'"},
	COMMON_OPTS,
	{0},
};

static int run(const struct cmd *self, int argc, char **argv)
{
	static char *const quick[] = {(char *)"quick"};
	struct run_cfg cfg = {0};
	struct words words;
	int n, code;

	n = run_parse(self, &cfg, argc, argv, &code);
	if (n < 0)
		return code;
	words.list = n ? argv : (char **)quick;
	code = run_suites(&cfg, n ? (size_t)n : 1, open_word, &words);
	opts_release(opts, &cfg);
	return code;
}

const struct cmd cmd_run = {
	.name = "run",
	.help = "run suites of measurements and report",
	.synopsis = "[OPTION…] [SUITE…]",
	.opts = opts,
	.details = "A SUITE is the name of one that comes with netbench (see: netbench list) or a "
		   "YAML file.\n"
		   "The default is 'quick'. The table goes to standard output, everything else to "
		   "standard\n"
		   "error. Exit codes: 0 all good, 1 a case failed or is void, 2 the command line "
		   "or a file is\n"
		   "wrong, 3 nothing could run on this machine, 130 interrupted.",
	.run = run,
};
