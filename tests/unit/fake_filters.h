/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stages that only have options, in place of topo/filter/filter.c: suites can be tested whatever the
 * kernel and the real stages can do. Include it in one file of a program.
 */
#ifndef UNIT_FAKE_FILTERS_H
#define UNIT_FAKE_FILTERS_H

#include <errno.h>
#include <string.h>

#include "topo/filter/filter.h"

/* Where the ruleset of any file is wrong. */
#define FAKE_FAULT ":3:7: syntax error"

/* How often a stage was asked whether it can run. */
static unsigned int fake_filter_checks;

static int fake_attach(const struct filter_site *site, void **ret_state, struct err *err)
{
	(void)site;
	(void)ret_state;
	return err_set(err, EOPNOTSUPP, "a fake is never put in place");
}

/* "wall" has at most 100 rules, cannot reject, and has a ruleset with a fault in it. */
static int wall_check(const void *cfg, struct err *err)
{
	const struct filter_spec *spec = cfg;

	fake_filter_checks++;
	if (spec->rules > 100)
		return err_set(err, EINVAL, "more than 100 rules");
	if (spec->action == FILTER_REJECT)
		return err_set(err, EOPNOTSUPP, "the kernel cannot reject");
	if (spec->file)
		return err_set(err, EINVAL, "%s" FAKE_FAULT, spec->file);
	return 0;
}

#define FAKE(title, asks)                                        \
	{                                                        \
		.kind = {.name = title,                          \
			 .opts = filter_opts,                    \
			 .cfg_size = sizeof(struct filter_spec), \
			 .check = asks},                         \
		.attach = fake_attach                            \
	}

static const struct filter fake_none = {.kind = {.name = "none"}},
			   fake_wall = FAKE("wall", wall_check), fake_gate = FAKE("gate", NULL);

const struct filter *const filters[] = {&fake_none, &fake_wall, &fake_gate, NULL};
const char *const filter_stages[] = {"none", "wall", "gate", NULL};

static const char *const fake_actions[] = {"drop", "accept", "reject", NULL};

#define FAKE_AT(member) .offset = offsetof(struct filter_spec, member)

const struct opt filter_opts[] = {
	{.name = "stage",
	 .type = OPT_CHOICE,
	 FAKE_AT(stage),
	 .def = "none",
	 .choices = filter_stages},
	{.name = "node", .type = OPT_TEXT, FAKE_AT(node)},
	{.name = "on", .type = OPT_TEXT, FAKE_AT(on)},
	{.name = "action",
	 .type = OPT_CHOICE,
	 FAKE_AT(action),
	 .def = "drop",
	 .choices = fake_actions},
	{.name = "rules", .type = OPT_COUNT, FAKE_AT(rules), .def = "1", .max = FILTER_RULES_MAX},
	{.name = "file", .type = OPT_TEXT, FAKE_AT(file), .metavar = "FILE"},
	{.name = "map", .type = OPT_LIST, FAKE_AT(map)},
	{0},
};

int filter_spec_init(struct filter_spec *spec, struct err *err)
{
	*spec = (struct filter_spec){0};
	return opts_default(filter_opts, spec, err);
}

void filter_spec_release(struct filter_spec *spec)
{
	opts_release(filter_opts, spec);
}

int filter_spec_copy(struct filter_spec *dst, const struct filter_spec *src)
{
	return opts_copy(filter_opts, sizeof(*dst), dst, src);
}

int filter_check(const struct filter_spec *spec, struct err *err)
{
	const struct kind *kind = &filter_of(spec)->kind;
	int r = kind->check ? kind->check(spec, err) : 0;

	if (r)
		err_prefix(err, "filter '%s'", kind->name);
	return r;
}

#endif
