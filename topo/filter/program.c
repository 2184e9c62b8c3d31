/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the choice between the two kinds of program, and what no BPF stage can do. */
#include "topo/filter/program.h"

#include <errno.h>

#include "topo/filter/own.h"

static enum bpf_prog_type type_of(enum drop_hook hook)
{
	return hook == DROP_ON_XDP ? BPF_PROG_TYPE_XDP : BPF_PROG_TYPE_SCHED_CLS;
}

static int check_rules(const struct filter_spec *spec, struct err *err)
{
	switch (spec->structure) {
	case FILTER_LINEAR:
		return 0;
	case FILTER_BPF_HASH:
		return spec->match == FILTER_PREFIX
			       ? err_set(err, EINVAL,
					 "a hash cannot look up prefixes: structure bpf-lpm can")
			       : 0;
	case FILTER_BPF_LPM:
		return spec->match == FILTER_PREFIX
			       ? 0
			       : err_set(err, EINVAL, "structure bpf-lpm is for match prefix only");
	default:
		return err_set(err, EINVAL,
			       "a BPF program keeps its rules in structure linear, bpf-hash or "
			       "bpf-lpm");
	}
}

/* Two rules need what ten thousand need. A user namespace gives no right to load programs. */
static int try_load(const struct filter_spec *spec, enum drop_hook hook, struct err *err)
{
	struct filter_spec trial = *spec;
	struct drop *drop = NULL;
	int r;

	if (trial.rules > 2)
		trial.rules = 2;
	r = drop_load(&trial, hook, &drop, err);
	drop_free(drop);
	if (r == -EPERM)
		return err_set(err, EOPNOTSUPP, "only root may load BPF programs");
	return r ? -EOPNOTSUPP : 0;
}

int program_check(const struct filter_spec *spec, enum drop_hook hook, const char *stage,
		  struct err *err)
{
	int r;

	if (spec->action == FILTER_REJECT)
		return err_set(
			err, EINVAL,
			"action reject needs an answer to the sender, a BPF program has none");
	if (!spec->object) {
		r = check_rules(spec, err);
		return r ? r : try_load(spec, hook, err);
	}
	return own_check(spec, type_of(hook), stage, err);
}

int program_load(struct program *program, const struct filter_spec *spec, enum drop_hook hook,
		 const char *stage, struct err *err)
{
	if (spec->object)
		return own_load(spec, type_of(hook), stage, &program->own, err);
	return drop_load(spec, hook, &program->drop, err);
}

void program_release(struct program *program)
{
	drop_free(program->drop);
	own_free(program->own);
	*program = (struct program){0};
}

int program_fd(const struct program *program)
{
	return program->own ? own_fd(program->own) : drop_fd(program->drop);
}

void program_read(const struct program *program, struct filter_counters *ret)
{
	if (program->drop)
		drop_read(program->drop, ret);
	else
		*ret = (struct filter_counters){0};
}
