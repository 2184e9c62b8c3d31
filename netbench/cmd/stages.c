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

/* Some values only go together with another: intervals with prefixes, a flowtable with tracking. */
static bool takes(size_t stage, const struct opt *opt, const char *value)
{
	struct setting settings[2] = {{opt, value}};
	struct err err;

	if (check(stage, settings, 1, &err) != -EINVAL)
		return true;
	for (const struct opt *other = filter_opts; other->name; other++) {
		if (other->type != OPT_CHOICE || other == opt || !strcmp(other->name, "stage"))
			continue;
		for (const char *const *choice = other->choices; *choice; choice++) {
			settings[1] = (struct setting){other, *choice};
			if (check(stage, settings, 2, &err) != -EINVAL)
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

static void narrow(size_t stage, struct narrowed *ret)
{
	struct err err;
	const bool known = check(stage, NULL, 0, &err) != -EINVAL;

	*ret = (struct narrowed){0};
	for (const struct opt *opt = filter_opts; opt->name && ret->n < OPTIONS_MAX; opt++) {
		struct opt *kept = &ret->opts[ret->n];

		if (!strcmp(opt->name, "stage"))
			continue;
		*kept = *opt;
		if (known && opt->type == OPT_CHOICE) {
			kept->choices = ret->choices[ret->n];
			if (!narrow_choices(stage, opt, ret->choices[ret->n]))
				continue;
		} else if (known && opt->type == OPT_BOOL && !takes(stage, opt, "yes")) {
			continue;
		}
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
	snprintf(reason, sizeof(reason), "cannot run here: %s", err.text);
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
			 able ? NULL : err.text, "options", options);
}

json_t *stages_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; filters[i]; i++)
		json_array_append_new(list, json_stage(i));
	return list;
}
