/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the user's BPF objects: finding the program meant, loading it, saying what is wrong. */
#include "topo/filter/own.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "topo/aside.h"
#include "topo/filter/bpf_log.h"

enum { VERIFIER_LOG_BYTES = 1 << 20 };

/* For a program of a million instructions on a small board. */
#define TRIAL_NS UINT64_C(30000000000)

struct own {
	struct bpf_object *object;
	struct bpf_program *program;
};

/* libbpf leaves the type open where it does not know the section, as an older one "tcx/ingress". */
static bool may_be(const struct bpf_program *program, enum bpf_prog_type type)
{
	return bpf_program__type(program) == type ||
	       bpf_program__type(program) == BPF_PROG_TYPE_UNSPEC;
}

static const char *type_name(const struct bpf_program *program)
{
	const char *name = libbpf_bpf_prog_type_str(bpf_program__type(program));

	return name ? name : "unknown";
}

/* "'a' (xdp), 'b' (sched_cls)": all programs of a type, or all programs there are. */
static void list_programs(const struct bpf_object *object, bool all, enum bpf_prog_type type,
			  char *buf, size_t len)
{
	struct bpf_program *program;
	size_t at = 0;

	buf[0] = '\0';
	for (program = bpf_object__next_program(object, NULL); program;
	     program = bpf_object__next_program(object, program)) {
		if ((!all && !may_be(program, type)) || at >= len)
			continue;
		at += (size_t)snprintf(buf + at, len - at, "%s'%s'", at ? ", " : "",
				       bpf_program__name(program));
		if (all && at < len)
			at += (size_t)snprintf(buf + at, len - at, " (%s)", type_name(program));
	}
}

static int refuse_named(const struct own *own, const struct filter_spec *spec,
			enum bpf_prog_type type, const char *stage, struct err *err)
{
	char names[256];

	if (!own->program) {
		list_programs(own->object, true, type, names, sizeof(names));
		return err_set(err, EINVAL, "%s: no program '%s'; there is %s", spec->object,
			       spec->program, names[0] ? names : "none at all");
	}
	list_programs(own->object, false, type, names, sizeof(names));
	return err_set(err, EINVAL, "%s: program '%s': is of type %s, stage %s needs %s%s%s",
		       spec->object, spec->program, type_name(own->program), stage,
		       libbpf_bpf_prog_type_str(type), names[0] ? ", such as " : "", names);
}

static int refuse_number(const struct own *own, const struct filter_spec *spec, size_t n,
			 enum bpf_prog_type type, const char *stage, struct err *err)
{
	char names[256];

	list_programs(own->object, !n, type, names, sizeof(names));
	if (n)
		return err_set(err, EINVAL,
			       "%s: %zu programs for stage %s: %s; choose with 'program'",
			       spec->object, n, stage, names);
	return err_set(err, EINVAL, "%s: no program for stage %s (type %s); there is %s",
		       spec->object, stage, libbpf_bpf_prog_type_str(type),
		       names[0] ? names : "none at all");
}

static int choose(struct own *own, const struct filter_spec *spec, enum bpf_prog_type type,
		  const char *stage, struct err *err)
{
	struct bpf_program *program;
	size_t n = 0;

	if (spec->program) {
		own->program = bpf_object__find_program_by_name(own->object, spec->program);
		if (!own->program || !may_be(own->program, type))
			return refuse_named(own, spec, type, stage, err);
		return 0;
	}
	for (program = bpf_object__next_program(own->object, NULL); program;
	     program = bpf_object__next_program(own->object, program))
		if (may_be(program, type)) {
			own->program = program;
			n++;
		}
	return n == 1 ? 0 : refuse_number(own, spec, n, type, stage, err);
}

/* Only the program that is meant; and no traces in /sys/fs/bpf. */
static int prepare(const struct own *own, enum bpf_prog_type type, char *verifier_log)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int r = 0;

	for (program = bpf_object__next_program(own->object, NULL); program;
	     program = bpf_object__next_program(own->object, program))
		bpf_program__set_autoload(program, program == own->program);
	for (map = bpf_object__next_map(own->object, NULL); map;
	     map = bpf_object__next_map(own->object, map))
		if (!r && bpf_map__pin_path(map))
			r = bpf_map__set_pin_path(map, NULL);
	if (!r && bpf_program__type(own->program) != type)
		r = bpf_program__set_type(own->program, type);
	if (!r)
		r = bpf_program__set_log_buf(own->program, verifier_log, VERIFIER_LOG_BYTES);
	return r;
}

/* The verifier gives its reason in the last line before its statistics. */
static const char *telling_line(char *log)
{
	char *line, *save, *last = NULL;

	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "processed ", 10) || !strncmp(line, "verification time", 17))
			break;
		last = line;
	}
	return last;
}

static int refuse_load(const struct own *own, const struct filter_spec *spec, int code,
		       char *verifier_log, const char *said, struct err *err)
{
	const char *why = telling_line(verifier_log);

	if (code == EPERM && !why)
		return err_sys(err, code, "%s: program '%s'", spec->object,
			       bpf_program__name(own->program));
	if (!why)
		why = said[0] ? said : strerror(code);
	return err_set(err, EINVAL, "%s: program '%s': %s", spec->object,
		       bpf_program__name(own->program), why);
}

static int open_object(struct own *own, const char *path, struct err *err)
{
	struct bpf_log log;

	bpf_log_begin(&log);
	own->object = bpf_object__open_file(path, NULL);
	bpf_log_end();
	if (own->object)
		return 0;
	return err_set(err, EINVAL, "%s: not a BPF object: %s", path,
		       log.text[0] ? log.text : strerror(errno));
}

static int load(struct own *own, const struct filter_spec *spec, enum bpf_prog_type type,
		const char *stage, struct err *err)
{
	char *verifier_log;
	struct bpf_log log;
	int r = open_object(own, spec->object, err);

	if (!r)
		r = choose(own, spec, type, stage, err);
	if (r)
		return r;
	verifier_log = calloc(1, VERIFIER_LOG_BYTES);
	if (!verifier_log)
		return err_sys(err, ENOMEM, "%s", spec->object);
	bpf_log_begin(&log);
	r = prepare(own, type, verifier_log);
	if (!r)
		r = bpf_object__load(own->object);
	bpf_log_end();
	if (r)
		r = refuse_load(own, spec, -r, verifier_log, log.text, err);
	/* The program keeps the pointer, but libbpf writes there only while it loads. */
	free(verifier_log);
	return r;
}

int own_load(const struct filter_spec *spec, enum bpf_prog_type type, const char *stage,
	     struct own **ret, struct err *err)
{
	struct own *own = calloc(1, sizeof(*own));
	int r;

	if (!own)
		return err_sys(err, ENOMEM, "%s", spec->object);
	r = load(own, spec, type, stage, err);
	if (r)
		own_free(own);
	else
		*ret = own;
	return r;
}

void own_free(struct own *own)
{
	if (!own)
		return;
	bpf_object__close(own->object);
	free(own);
}

int own_fd(const struct own *own)
{
	return bpf_program__fd(own->program);
}

struct trial {
	const struct filter_spec *spec;
	enum bpf_prog_type type;
	const char *stage;
};

static int try_load(const void *arg, struct err *err)
{
	const struct trial *trial = arg;
	struct own *own = NULL;
	int r = own_load(trial->spec, trial->type, trial->stage, &own, err);

	own_free(own);
	return r;
}

static int check_file(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return err_set(err, EINVAL, "%s: %s", path, strerror(errno));
	return S_ISREG(st.st_mode) ? 0 : err_set(err, EINVAL, "%s: not a file", path);
}

int own_check(const struct filter_spec *spec, enum bpf_prog_type type, const char *stage,
	      struct err *err)
{
	const struct trial trial = {spec, type, stage};
	int r = check_file(spec->object, err);

	if (!r)
		r = aside_run(try_load, &trial, TRIAL_NS, err);
	if (r == -EPERM)
		return err_set(err, EOPNOTSUPP, "only root may load BPF programs");
	if (r == -ETIMEDOUT || r == -ECHILD) {
		err_prefix(err, "%s: cannot be loaded", spec->object);
		return -EINVAL;
	}
	return r;
}
