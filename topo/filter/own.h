/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program from the user's own BPF object. All errors are one line: "FILE: program 'x': reason". */
#ifndef TOPO_FILTER_OWN_H
#define TOPO_FILTER_OWN_H

#include <linux/bpf.h>

#include "topo/filter/filter.h"

struct own;

/*
 * Open spec->object and load spec->program, or the only one of the type, for stage `stage`. Nothing
 * is attached, and nothing pinned even if the object asks for it. -EINVAL when the file is at fault.
 */
int own_load(const struct filter_spec *spec, enum bpf_prog_type type, const char *stage,
	     struct own **ret, struct err *err);
/* NULL is fine. */
void own_free(struct own *own);
int own_fd(const struct own *own);

/*
 * Would own_load() succeed? Tried in a child process, so that neither a broken file nor a verifier
 * that takes for ever hurts the caller. A caller without privilege gets 0 unless the file is bad.
 */
int own_check(const struct filter_spec *spec, enum bpf_prog_type type, const char *stage,
	      struct err *err);

#endif
