/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the list of filter stages and what all of them have in common: a new stage is a line here. */
#include "topo/filter/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct filter filter_none = {
	.kind = {.name = "none",
		 .help = "no filter: the bare path, to compare with",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec)},
	.lasting = true,
};

const struct filter *const filters[] = {
	&filter_none,	  &filter_xdp,	       &filter_xdp_generic, &filter_tcx,
	&filter_tc_bpf,	  &filter_tc_u32,      &filter_tc_flower,   &filter_nft_ingress,
	&filter_nft_raw,  &filter_nft_forward, &filter_nft_input,   &filter_nft_output,
	&filter_nft_file, &filter_socket,      &filter_app,	    NULL,
};

/* The same names in the same order; a test compares the two. */
const char *const filter_stages[] = {
	"none",	     "xdp",	    "xdp-generic", "tcx",	  "tc-bpf",    "tc-u32",
	"tc-flower", "nft-ingress", "nft-raw",	   "nft-forward", "nft-input", "nft-output",
	"nft-file",  "socket",	    "app",	   NULL,
};

static const char *const actions[] = {"drop", "accept", "reject", "count", NULL};
static const char *const matches[] = {"port", "prefix", "tuple", NULL};
static const char *const structures[] = {
	"linear", "set", "interval-set", "verdict-map", "bpf-hash", "bpf-lpm", NULL};
static const char *const hits[] = {"first", "last", "never", NULL};
static const char *const conntracks[] = {"none", "notrack", "tracked", "masquerade", "dnat", NULL};

#define AT(member) .offset = offsetof(struct filter_spec, member)

const struct opt filter_opts[] = {
	{.name = "stage",
	 .type = OPT_CHOICE,
	 AT(stage),
	 .def = "none",
	 .choices = filter_stages,
	 .help = "where in the node's packet path"},
	{.name = "node",
	 .type = OPT_TEXT,
	 AT(node),
	 .metavar = "NODE",
	 .help = "default: the first router, else the last node"},
	{.name = "on",
	 .type = OPT_TEXT,
	 AT(on),
	 .metavar = "IF",
	 .help = "interface in the node, for stages bound to devices; default: all of them"},
	{.name = "action",
	 .type = OPT_CHOICE,
	 AT(action),
	 .def = "drop",
	 .choices = actions,
	 .help = "what happens to a packet that hits"},
	{.name = "match",
	 .type = OPT_CHOICE,
	 AT(match),
	 .def = "port",
	 .choices = matches,
	 .help = "what a rule looks at: protocol and destination port, source prefix, or "
		 "addresses, "
		 "protocol and ports"},
	{.name = "rules",
	 .type = OPT_COUNT,
	 AT(rules),
	 .def = "1",
	 .max = FILTER_RULES_MAX,
	 .help = "rules or elements; 0: the hook alone"},
	{.name = "structure",
	 .type = OPT_CHOICE,
	 AT(structure),
	 .def = "linear",
	 .choices = structures,
	 .help = "how the rules are stored"},
	{.name = "hit",
	 .type = OPT_CHOICE,
	 AT(hit),
	 .def = "last",
	 .choices = hits,
	 .help = "which of the rules the frames hit"},
	{.name = "conntrack",
	 .type = OPT_CHOICE,
	 AT(conntrack),
	 .def = "none",
	 .choices = conntracks,
	 .help = "connection tracking beside the rules"},
	{.name = "flowtable",
	 .type = OPT_BOOL,
	 AT(flowtable),
	 .def = "no",
	 .help = "established flows bypass the rules (nft-forward with conntrack)"},
	{.name = "file",
	 .type = OPT_TEXT,
	 AT(file),
	 .metavar = "FILE",
	 .help = "your own ruleset in nft syntax, for stage nft-file"},
	{.name = "map",
	 .type = OPT_LIST,
	 AT(map),
	 .metavar = "IF=NAME",
	 .help = "what your ruleset calls an interface of the node"},
	{.name = "define",
	 .type = OPT_LIST,
	 AT(define),
	 .metavar = "NAME=VALUE",
	 .help = "a variable that your ruleset uses and does not define itself"},
	{.name = "object",
	 .type = OPT_TEXT,
	 AT(object),
	 .metavar = "FILE",
	 .help = "your own BPF object, for stages xdp, xdp-generic, tcx and tc-bpf"},
	{.name = "program",
	 .type = OPT_TEXT,
	 AT(program),
	 .metavar = "NAME",
	 .help = "the program in the object; default: its only one"},
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
	*spec = (struct filter_spec){0};
}

int filter_spec_copy(struct filter_spec *dst, const struct filter_spec *src)
{
	return opts_copy(filter_opts, sizeof(*dst), dst, src);
}

static bool takes_object(const char *stage)
{
	static const char *const stages[] = {"xdp", "xdp-generic", "tcx", "tc-bpf"};

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		if (!strcmp(stages[i], stage))
			return true;
	return false;
}

/* What a user's own ruleset or program decides for itself. */
static int check_own(const struct filter_spec *spec, struct err *err)
{
	struct filter_spec plain;
	bool same;
	int r;

	if (!spec->file && !spec->object)
		return 0;
	r = filter_spec_init(&plain, err);
	if (r)
		return r;
	same = spec->action == plain.action && spec->match == plain.match &&
	       spec->rules == plain.rules && spec->structure == plain.structure &&
	       spec->hit == plain.hit;
	filter_spec_release(&plain);
	return same ? 0
		    : err_set(err, EINVAL,
			      "action, match, rules, structure and hit are up to your own %s",
			      spec->file ? "ruleset" : "program");
}

/* Options that only some stages know. */
static int check_options(const struct filter_spec *spec, const char *stage, struct err *err)
{
	if ((spec->file || spec->map.n || spec->define.n) && strcmp(stage, "nft-file") != 0)
		return err_set(err, EINVAL, "'file', 'map' and 'define' are for stage nft-file");
	if ((spec->conntrack || spec->flowtable) && strncmp(stage, "nft-", 4) != 0)
		return err_set(err, EINVAL,
			       "connection tracking and flowtables belong to the nft stages");
	if (spec->object && !takes_object(stage))
		return err_set(err, EINVAL,
			       "'object' is for stages xdp, xdp-generic, tcx and tc-bpf");
	if (spec->program && !spec->object)
		return err_set(err, EINVAL, "'program' needs an 'object'");
	return check_own(spec, err);
}

int filter_check(const struct filter_spec *spec, struct err *err)
{
	const struct filter *filter = filter_of(spec);
	int r;

	if (!filter->attach)
		return 0;
	r = check_options(spec, filter->kind.name, err);
	if (!r && filter->kind.check)
		r = filter->kind.check(spec, err);
	return r ? err_prefix(err, "filter '%s'", filter->kind.name), r : 0;
}
