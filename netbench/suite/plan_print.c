/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the listing of a plan: --dry-run. One line per object, key=value, safe to grep and cut. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "load/load.h"
#include "search/search.h"
#include "suite/plan.h"
#include "topo/filter/filter.h"

static void print_value(const char *name, const char *value, FILE *out)
{
	bool quote = strpbrk(value, " \"'") != NULL;

	fprintf(out, " %s=%s%s%s", name, quote ? "\"" : "", value, quote ? "\"" : "");
}

static void print_options(const struct opt *opts, const void *cfg, FILE *out)
{
	for (; opts->name; opts++) {
		char value[4200];

		opt_text(opts, cfg, value, sizeof(value));
		print_value(opts->name, value, out);
	}
}

/* As planned: with the interface names and the addresses that were left to netbench. */
static void print_wire(const struct wire *wire, const struct lab_spec *lab, FILE *out)
{
	char addr[INET6_ADDRSTRLEN];

	fprintf(out, "  wire   %s", wire->name);
	for (unsigned int side = 0; side < 2; side++) {
		const struct end *end = &wire->end[side];

		fprintf(out, " %s:%s", lab->nodes[end->node].name, end->ifname);
		inet_ntop(AF_INET, &end->addr, addr, sizeof(addr));
		fprintf(out, "=%s/%u", addr, wire->prefix);
		inet_ntop(AF_INET6, &end->addr6, addr, sizeof(addr));
		fprintf(out, ",%s/%u", addr, wire->prefix6);
	}
	fputc('\n', out);
}

static void print_lab(const struct arm *arm, FILE *out)
{
	const struct lab_spec *lab = &arm->lab;
	struct lab_plan *plan = NULL;

	fprintf(out, "  lab    %s\n", arm->lab_name);
	for (size_t i = 0; i < lab->n_nodes; i++) {
		fprintf(out, "  node   %s", lab->nodes[i].name);
		print_options(node_opts, &lab->nodes[i], out);
		fputc('\n', out);
	}
	if (lab_plan_make(lab, &plan, NULL))
		plan = NULL;
	for (size_t i = 0; i < lab->n_links; i++) {
		const struct wire *wire = plan ? lab_plan_wire(plan, i) : NULL;

		fprintf(out, "  link   %s",
			wire		     ? wire->name
			: lab->links[i].name ? lab->links[i].name
					     : "-");
		print_options(link_opts, &lab->links[i], out);
		fputc('\n', out);
		if (wire)
			print_wire(wire, lab, out);
	}
	for (size_t i = 0; i < lab->n_filters; i++) {
		fprintf(out, "  filter %zu", i + 1);
		print_options(filter_opts, &lab->filters[i], out);
		fputc('\n', out);
	}
	lab_plan_free(plan);
}

static void print_load(const char *what, const struct load_spec *spec, FILE *out)
{
	fprintf(out, "  %-6s %s", what, spec->load->kind.name);
	print_options(spec->load->kind.opts, spec->cfg, out);
	fputc('\n', out);
}

static void print_arm(const struct plan *plan, const struct arm *arm, FILE *out)
{
	fprintf(out, "\narm %s\n", arm->name);
	if (arm->skip)
		fprintf(out, "  skip   %s\n", arm->skip);
	print_lab(arm, out);
	print_load("load", &arm->main, out);
	for (size_t i = 0; i < arm->n_beside; i++)
		print_load("beside", &arm->beside[i], out);
	if (arm->search) {
		fputs("  search", out);
		print_options(search_opts, arm->search, out);
		fputc('\n', out);
	}
	if (arm->baseline != NO_BASELINE)
		fprintf(out, "  against %s\n", plan->arms[arm->baseline].name);
	if (arm->slope)
		fprintf(out, "  slope  %s\n", arm->slope);
	fputs("  timing", out);
	print_options(timing_opts, &arm->timing, out);
	fputc('\n', out);
}

void plan_print(const struct plan *plan, FILE *out)
{
	char time[32];
	size_t skipped = 0, searches = 0;

	for (size_t i = 0; i < plan->n_arms; i++)
		skipped += plan->arms[i].skip != NULL;
	unit_format((double)plan_duration_ns(plan), "ns", time, sizeof(time));
	fprintf(out, "suite  %s\n", plan->suite->name);
	if (plan->suite->about)
		fprintf(out, "about  %s\n", plan->suite->about);
	fprintf(out, "file   %s\n", plan->suite->file);
	fprintf(out, "seed   %" PRIu64 "\n", plan->seed);
	fprintf(out, "arms   %zu, of these %zu skipped\n", plan->n_arms, skipped);
	for (size_t i = 0; i < plan->n_arms; i++)
		print_arm(plan, &plan->arms[i], out);
	fputs("\norder\n", out);
	for (size_t i = 0; i < plan->n_order; i++) {
		fprintf(out, "  %4zu  %s\n", i + 1, plan->arms[plan->order[i]].name);
		searches += plan->arms[plan->order[i]].search != NULL;
	}
	fprintf(out, "time   %s%s in windows and warm-ups of %zu trials, set-up comes on top\n",
		searches ? "at most " : "", time, plan->n_order);
}
