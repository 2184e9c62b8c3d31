/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the filter program between its loading and its end: configuration, tables, counters. */
#include "topo/filter/drop.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdlib.h>

#include "bpf/drop.h"
#include "bpf/drop.skel.h"
#include "topo/filter/bpf_log.h"
#include "topo/filter/drop_rules.h"

struct drop {
	struct drop_bpf *skel;
	struct bpf_program *program; /* the one of the hook */
	bool drops;
	size_t n_cpus;
};

/* A frame that is dropped, accepted, or only counted; the next filter looks at the last kind. */
static int verdict(enum drop_hook hook, int action)
{
	switch (hook) {
	case DROP_ON_XDP:
		return action == FILTER_DROP ? XDP_DROP : XDP_PASS;
	case DROP_ON_TC:
		return action == FILTER_DROP	 ? TC_ACT_SHOT
		       : action == FILTER_ACCEPT ? TC_ACT_OK
						 : TC_ACT_UNSPEC;
	case DROP_ON_SOCKET:
		break;
	}
	return action == FILTER_DROP ? 0 : -1;
}

static enum drop_structure structure(const struct filter_spec *spec)
{
	if (!spec->rules)
		return DROP_NONE;
	if (spec->structure == FILTER_BPF_HASH)
		return DROP_HASH;
	if (spec->structure == FILTER_BPF_LPM)
		return DROP_LPM;
	return spec->rules == 1 ? DROP_SINGLE : DROP_LINEAR;
}

static void configure(struct drop_config *config, const struct filter_spec *spec,
		      enum drop_hook hook)
{
	static const enum drop_match matches[] = {
		[FILTER_PORT] = DROP_PORT,
		[FILTER_PREFIX] = DROP_PREFIX,
		[FILTER_TUPLE] = DROP_TUPLE,
	};
	const bool hits = spec->hit != FILTER_NEVER;

	config->structure = structure(spec);
	config->match = matches[spec->match];
	config->rules = (uint32_t)spec->rules;
	config->go_on = spec->action == FILTER_COUNT;
	config->verdict = verdict(hook, spec->action);
	/* A hash is asked with the masks of the rule that is hit, whether it holds that one or not. */
	config->rule4 = drop_rule4(0, hits || config->structure == DROP_HASH);
	config->rule6 = drop_rule6(0, hits || config->structure == DROP_HASH);
}

static struct bpf_map *map_of(const struct drop_bpf *skel, enum drop_structure structure,
			      int version)
{
	switch (structure) {
	case DROP_LINEAR:
		return version == 4 ? skel->maps.rules4 : skel->maps.rules6;
	case DROP_HASH:
		return version == 4 ? skel->maps.hash4 : skel->maps.hash6;
	case DROP_LPM:
		return version == 4 ? skel->maps.lpm4 : skel->maps.lpm6;
	case DROP_NONE:
	case DROP_SINGLE:
		break;
	}
	return NULL;
}

static int size_map(struct bpf_map *map, const struct drop_table *table)
{
	int r = bpf_map__set_max_entries(map, (uint32_t)table->n);

	return r ? r : bpf_map__set_key_size(map, (uint32_t)table->key_size);
}

static int fill_map(const struct bpf_map *map, const struct drop_table *table, struct err *err)
{
	uint32_t count = (uint32_t)table->n;

	if (bpf_map_update_batch(bpf_map__fd(map), table->keys, table->values, &count, NULL))
		return err_sys(err, errno, "cannot store %zu rules", table->n);
	return 0;
}

static int load(struct drop *drop, struct err *err)
{
	struct bpf_log log;
	int r;

	bpf_log_begin(&log);
	r = drop_bpf__load(drop->skel);
	bpf_log_end();
	if (!r)
		return 0;
	if (r == -EPERM)
		return err_sys(err, -r, "cannot load the BPF program");
	return err_set(err, EOPNOTSUPP, "the kernel does not take the BPF program: %s", log.text);
}

/* The maps take their sizes from the tables, then the program is loaded, then they are filled. */
static int load_with_tables(struct drop *drop, const struct filter_spec *spec, struct err *err)
{
	const enum drop_structure kind = drop->skel->rodata->config.structure;
	struct drop_table tables[2] = {0};
	struct bpf_map *maps[2];
	int r = 0;

	for (int i = 0; !r && i < 2; i++) {
		maps[i] = map_of(drop->skel, kind, i ? 6 : 4);
		if (!maps[i])
			continue;
		r = drop_table_make(spec, kind, i ? 6 : 4, &tables[i]);
		if (!r)
			r = size_map(maps[i], &tables[i]);
		if (r)
			err_sys(err, r, "cannot prepare %zu rules", (size_t)spec->rules);
	}
	if (!r)
		r = load(drop, err);
	for (int i = 0; !r && i < 2; i++)
		if (maps[i])
			r = fill_map(maps[i], &tables[i], err);
	drop_table_release(&tables[0]);
	drop_table_release(&tables[1]);
	return r;
}

static struct bpf_program *program_of(const struct drop_bpf *skel, enum drop_hook hook)
{
	switch (hook) {
	case DROP_ON_XDP:
		return skel->progs.drop_xdp;
	case DROP_ON_TC:
		return skel->progs.drop_tc;
	case DROP_ON_SOCKET:
		break;
	}
	return skel->progs.drop_socket;
}

static int open_skeleton(struct drop *drop, enum drop_hook hook, struct err *err)
{
	struct bpf_program *program;
	struct bpf_log log;

	bpf_log_begin(&log);
	drop->skel = drop_bpf__open();
	bpf_log_end();
	if (!drop->skel)
		return err_sys(err, errno, "cannot open the BPF program");
	drop->program = program_of(drop->skel, hook);
	for (program = bpf_object__next_program(drop->skel->obj, NULL); program;
	     program = bpf_object__next_program(drop->skel->obj, program))
		bpf_program__set_autoload(program, program == drop->program);
	return 0;
}

int drop_load(const struct filter_spec *spec, enum drop_hook hook, struct drop **ret,
	      struct err *err)
{
	const int n_cpus = libbpf_num_possible_cpus();
	struct drop *drop;
	int r;

	if (n_cpus < 0)
		return err_sys(err, n_cpus, "cannot count the CPUs");
	if (n_cpus > DROP_CPUS)
		return err_set(err, EOPNOTSUPP,
			       "the filter program counts on up to %d CPUs, this machine has %d",
			       DROP_CPUS, n_cpus);
	drop = calloc(1, sizeof(*drop));
	if (!drop)
		return err_sys(err, ENOMEM, "cannot load the BPF program");
	drop->n_cpus = (size_t)n_cpus;
	drop->drops = spec->action == FILTER_DROP;
	r = open_skeleton(drop, hook, err);
	if (!r) {
		configure(&drop->skel->rodata->config, spec, hook);
		r = load_with_tables(drop, spec, err);
	}
	if (r) {
		drop_free(drop);
		return r;
	}
	*ret = drop;
	return 0;
}

void drop_free(struct drop *drop)
{
	if (!drop)
		return;
	drop_bpf__destroy(drop->skel);
	free(drop);
}

int drop_fd(const struct drop *drop)
{
	return bpf_program__fd(drop->program);
}

void drop_read(const struct drop *drop, struct filter_counters *ret)
{
	*ret = (struct filter_counters){.exact = true};
	for (size_t i = 0; i < drop->n_cpus; i++)
		ret->matched +=
			__atomic_load_n(&drop->skel->bss->counts[i].matched, __ATOMIC_RELAXED);
	ret->dropped = drop->drops ? ret->matched : 0;
}
