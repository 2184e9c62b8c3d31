/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netbench doctor: what this machine has and lacks, each with the remedy. */
#include <errno.h>
#include <jansson.h>
#include <libsmartcols.h>
#include <stdlib.h>

#include "cmd/checkup.h"
#include "cmd/cmd.h"
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

static int add_line(struct libscols_table *table, const struct checkup *entry, bool new_group)
{
	static const char *const colors[] = {"green", "brown", "red"};
	struct libscols_line *line = scols_table_new_line(table, NULL);
	int r;

	if (!line)
		return -ENOMEM;
	r = scols_line_set_data(line, 0, new_group ? entry->group : "");
	if (!r)
		r = scols_line_set_data(line, 1, entry->name);
	if (!r)
		r = scols_line_set_data(line, 2, health_name(entry->health));
	if (!r)
		r = scols_line_set_data(line, 3, entry->detail);
	if (!r)
		r = scols_line_set_data(line, 4, entry->remedy ? entry->remedy : "");
	if (!r)
		r = scols_cell_set_color(scols_line_get_cell(line, 2), colors[entry->health]);
	return r;
}

static int print_table(const struct checkup *list, size_t n)
{
	static const char *const columns[] = {"area", "what", "status", "detail", "remedy"};
	struct libscols_table *table;
	int r = 0;

	scols_init_debug(0);
	table = scols_new_table();
	if (!table)
		return -ENOMEM;
	scols_table_enable_colors(table, output_color(stdout));
	scols_table_set_termforce(table, output_width(stdout) ? SCOLS_TERMFORCE_AUTO
							      : SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && !r; i++)
		if (!scols_table_new_column(table, columns[i], 0, i > 2 ? SCOLS_FL_WRAP : 0))
			r = -ENOMEM;
	for (size_t i = 0; i < n && !r; i++)
		r = add_line(table, &list[i], !i || list[i].group != list[i - 1].group);
	if (!r)
		r = scols_print_table(table);
	scols_unref_table(table);
	return r;
}

/* The last line says what the table means. */
static bool conclude(const struct checkup *list, size_t n, FILE *out)
{
	unsigned int count[HEALTH_MISSING + 1] = {0};
	const char *vital = NULL;

	for (size_t i = 0; i < n; i++) {
		count[list[i].health]++;
		if (list[i].vital && list[i].health == HEALTH_MISSING && !vital)
			vital = list[i].name;
	}
	if (!out)
		return !vital;
	fprintf(out, "\n%u ok, %u to look at, %u missing. ", count[HEALTH_OK], count[HEALTH_WARN],
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
		   "The exit\n"
		   "code is 0 if labs can be built here and 3 if nothing can run.",
	.run = doctor_run,
};
