/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netbench doctor: what this machine has and lacks, each with the remedy. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "cmd/checkup.h"
#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/output.h"

enum { CHECKS_MAX = 64 };

static const struct opt doctor_opts[] = {COMMON_OPTS, {0}};

static int print_json(const struct checkup *list, size_t n)
{
	json_t *array = json_array();
	int r = array ? 0 : -1;

	for (size_t i = 0; i < n && !r; i++)
		r = json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:b, s:s, s:s?}", "group", list[i].group,
					 "name", list[i].name, "status",
					 health_name(list[i].health), "vital", list[i].vital,
					 "detail", list[i].detail, "remedy", list[i].remedy));
	if (!r)
		r = json_dumpf(array, stdout, JSON_INDENT(2));
	json_decref(array);
	putchar('\n');
	return r ? -ENOMEM : 0;
}

static int print_table(const struct checkup *list, size_t n)
{
	static const struct column column[] = {{"area", false},
					       {"what", true},
					       {"status", false},
					       {"detail", true},
					       {"remedy", true}};
	static const int colors[] = {
		[HEALTH_OK] = 32, [HEALTH_WARN] = 33, [HEALTH_MISSING] = 31, [HEALTH_ABSENT] = 2};
	struct columns *table = columns_new(column, sizeof(column) / sizeof(column[0]));
	int r;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *cells[] = {
			!i || list[i].group != list[i - 1].group ? list[i].group : "", list[i].name,
			health_name(list[i].health), list[i].detail, list[i].remedy};

		columns_add(table, cells);
		columns_paint(table, 2, colors[list[i].health]);
	}
	r = columns_print(table, 0, output_width(stdout), output_color(stdout), stdout);
	columns_free(table);
	return r;
}

/* The last line says what the table means. */
static bool conclude(const struct checkup *list, size_t n, FILE *out)
{
	unsigned int count[HEALTH_ABSENT + 1] = {0};
	const char *vital = NULL;

	for (size_t i = 0; i < n; i++) {
		count[list[i].health]++;
		if (list[i].vital && list[i].health == HEALTH_MISSING && !vital)
			vital = list[i].name;
	}
	if (!out)
		return !vital;
	fprintf(out, "\n%u ok, %u to look at, %u missing.\n", count[HEALTH_OK], count[HEALTH_WARN],
		count[HEALTH_MISSING]);
	if (vital)
		fprintf(out, "Nothing can run here: no %s.\n", vital);
	else
		fputs("Labs can be built here: try `netbench run`.\n", out);
	return !vital;
}

static int doctor_run(const struct cmd *self, int argc, char **argv)
{
	struct checkup list[CHECKS_MAX];
	struct common_cfg cfg = {0};
	bool able;
	size_t n;
	int code, r;

	r = cmd_parse(self, &cfg, argc, argv, false, &code);
	if (r < 0)
		return code;
	if (r > 0)
		return cmd_complain(EXIT_USAGE, "doctor takes no argument, such as '%s'", argv[0]);
	n = checkup_run(list, CHECKS_MAX);
	r = cfg.json ? print_json(list, n) : print_table(list, n);
	if (r)
		return cmd_complain(EXIT_FAILED, "cannot print the findings");
	able = conclude(list, n, cfg.json ? NULL : stdout);
	return able ? EXIT_GOOD : EXIT_NOTHING;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.help = "say what this machine has and lacks, with the remedies",
	.opts = doctor_opts,
	.details = "Kernel features are tried out in processes of their own that leave nothing. "
		   "What\n"
		   "nothing uses yet is listed as 'later'; lacking it costs nothing. The exit code "
		   "is 0\n"
		   "if labs can be built here and 3 if nothing can run.",
	.run = doctor_run,
};
