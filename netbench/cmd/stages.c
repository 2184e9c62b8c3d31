/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what `list` says about stages. What a stage takes is found out by asking its check. */
#include "cmd/stages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/keys.h"
#include "cmd/output.h"
#include "topo/filter/filter.h"

enum { OPTIONS_MAX = 32, CHOICES_MAX = 32 };

static int out_of_memory(void)
{
	return cmd_complain(EXIT_FAILED, "out of memory");
}

/* A filter of the stage, with one or two options set to the values given; opt may be NULL. */
struct setting {
	const struct opt *opt;
	const char *value;
};

static int check(size_t stage, const struct setting *settings, size_t n, struct err *err)
{
	struct filter_spec spec;
	int r = filter_spec_init(&spec, err);

	if (r)
		return r;
	spec.stage = (int)stage;
	for (size_t i = 0; i < n && !r; i++)
		r = opt_set(settings[i].opt, &spec, settings[i].value, err);
	if (!r)
		r = filter_check(&spec, err);
	filter_spec_release(&spec);
	return r;
}

/* Missing options of its own do not mean that the stage cannot be used here. */
static bool usable(size_t stage, struct err *err)
{
	return check(stage, NULL, 0, err) != -EOPNOTSUPP;
}

const char *stage_reason(const struct err *err)
{
	const char *colon = strncmp(err->text, "filter '", 8) ? NULL : strstr(err->text, "': ");

	return colon ? colon + 3 : err->text;
}

/* An empty file: it is refused for what it holds, which tells that a file is taken. */
static const char some_file[] = "/dev/null";

static bool is_file(const struct opt *opt)
{
	return opt->metavar && !strcmp(opt->metavar, "FILE");
}

static bool accepted(size_t stage, const struct setting *settings, size_t n)
{
	struct err err = {0};

	return check(stage, settings, n, &err) != -EINVAL || strstr(err.text, some_file);
}

/* Some values only go together with another: intervals with prefixes, a flowtable with tracking. */
static bool takes(size_t stage, const struct opt *opt, const char *value)
{
	struct setting settings[2] = {{opt, value}};

	if (accepted(stage, settings, 1))
		return true;
	for (const struct opt *other = filter_opts; other->name; other++) {
		/* Files matter to the texts that say more of them. */
		const bool with_file = opt->type != OPT_CHOICE && is_file(other);
		const char *const file[] = {with_file ? some_file : NULL, NULL};
		const char *const *choice = other->type == OPT_CHOICE ? other->choices : file;

		if (!strcmp(other->name, opt->name) || !strcmp(other->name, "stage"))
			continue;
		for (; *choice; choice++) {
			settings[1] = (struct setting){other, *choice};
			if (accepted(stage, settings, 2))
				return true;
		}
	}
	return false;
}

/* The options of filters, narrowed to what one stage takes. */
struct narrowed {
	struct opt opts[OPTIONS_MAX + 1];
	const char *choices[OPTIONS_MAX][CHOICES_MAX + 1];
	size_t n;
};

static bool narrow_choices(size_t stage, const struct opt *opt, const char **choices)
{
	size_t n = 0;

	for (const char *const *choice = opt->choices; *choice && n < CHOICES_MAX; choice++)
		if (takes(stage, opt, *choice))
			choices[n++] = *choice;
	choices[n] = NULL;
	return n > 1;
}

/* Is the option one that the stage takes? choices: room for those that it takes. */
static bool keep(size_t stage, struct opt *opt, const char **choices)
{
	switch (opt->type) {
	case OPT_CHOICE:
		if (!narrow_choices(stage, opt, choices))
			return false;
		opt->choices = choices;
		return true;
	case OPT_BOOL:
		return takes(stage, opt, "yes");
	case OPT_LIST:
		return takes(stage, opt, "a=b");
	case OPT_TEXT:
		/* Where it goes is the same for all. */
		return !strcmp(opt->name, "node") || !strcmp(opt->name, "on") ||
		       takes(stage, opt, is_file(opt) ? some_file : "a");
	default:
		return true;
	}
}

static void narrow(size_t stage, struct narrowed *ret)
{
	struct err err;
	const bool known = check(stage, NULL, 0, &err) != -EINVAL;

	*ret = (struct narrowed){0};
	for (const struct opt *opt = filter_opts; opt->name && ret->n < OPTIONS_MAX; opt++) {
		ret->opts[ret->n] = *opt;
		if (!strcmp(opt->name, "stage"))
			continue;
		if (!known || keep(stage, &ret->opts[ret->n], ret->choices[ret->n]))
			ret->n++;
	}
	ret->opts[ret->n] = (struct opt){0};
}

static void add_stage(struct columns *table, size_t stage)
{
	const struct kind *kind = &filters[stage]->kind;
	const char *cells[] = {kind->name, kind->help};
	char reason[sizeof(struct err) + 32];
	struct err err;

	columns_add(table, cells);
	if (usable(stage, &err))
		return;
	snprintf(reason, sizeof(reason), "cannot run here: %s", stage_reason(&err));
	cells[0] = "";
	cells[1] = reason;
	columns_add(table, cells);
}

static struct columns *new_table(void)
{
	static const struct column column[] = {{NULL, false}, {NULL, true}};

	return columns_new(column, sizeof(column) / sizeof(column[0]));
}

int stages_print(bool verbose)
{
	struct columns *table = new_table();
	int r;

	if (!table)
		return out_of_memory();
	puts("Filter stages:");
	for (size_t i = 0; filters[i]; i++)
		add_stage(table, i);
	r = columns_print(table, 2, output_width(stdout), false, stdout);
	columns_free(table);
	if (!r && verbose)
		r = keys_print(filter_opts, 4, output_width(stdout), stdout);
	return r ? out_of_memory() : EXIT_GOOD;
}

static int find(const char *name, size_t *ret)
{
	const char *near;
	size_t n = 0;

	for (; filters[n]; n++) {
		if (strcmp(filters[n]->kind.name, name) != 0)
			continue;
		*ret = n;
		return EXIT_GOOD;
	}
	near = name_nearest(filter_stages, n, name);
	return cmd_complain(EXIT_USAGE, "no filter stage '%s'%s%s%s", name,
			    near ? "; did you mean '" : " (see: netbench list filters)",
			    near ? near : "", near ? "'?" : "");
}

int stages_detail(int n, char *const *names)
{
	int code = EXIT_GOOD;

	for (int i = 0; i < n && !code; i++) {
		struct columns *table;
		struct narrowed narrowed;
		size_t stage = 0;
		int r;

		code = find(names[i], &stage);
		if (code)
			break;
		table = new_table();
		if (!table)
			return out_of_memory();
		add_stage(table, stage);
		r = columns_print(table, 0, output_width(stdout), false, stdout);
		columns_free(table);
		narrow(stage, &narrowed);
		if (!r && filters[stage]->attach)
			r = keys_print(narrowed.opts, 2, output_width(stdout), stdout);
		code = r ? out_of_memory() : EXIT_GOOD;
	}
	return code;
}

static json_t *json_option(const struct opt *opt)
{
	char range[256];

	opt_range_text(opt, range, sizeof(range));
	return json_pack("{s:s, s:s, s:s?, s:s, s:s?}", "name", opt->name, "type",
			 opt_type_text(opt), "default", opt->def, "accepts", range, "help",
			 opt->help);
}

static json_t *json_stage(size_t stage)
{
	const struct filter *filter = filters[stage];
	json_t *options = json_array();
	struct narrowed narrowed;
	struct err err = {0};
	bool able = usable(stage, &err);

	narrow(stage, &narrowed);
	for (const struct opt *opt = narrowed.opts; filter->attach && opt->name; opt++)
		json_array_append_new(options, json_option(opt));
	return json_pack("{s:s, s:s, s:b, s:b, s:s?, s:o}", "name", filter->kind.name, "help",
			 filter->kind.help, "lasting", filter->lasting, "available", able, "reason",
			 able ? NULL : stage_reason(&err), "options", options);
}

json_t *stages_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; filters[i]; i++)
		json_array_append_new(list, json_stage(i));
	return list;
}
