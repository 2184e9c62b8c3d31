/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of one case, named by path: what a matrix, --set and `bench` can vary. */
#ifndef SUITE_PATH_H
#define SUITE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "suite/suite.h"

struct path_scope {
	struct timing *timing;
	struct lab_spec *lab;
	const struct lab_plan *plan; /* names the links that the user did not; may be NULL */
	struct load_spec *main, *beside;
	size_t n_beside;
	struct search_cfg *search; /* may be NULL */
	const char *file; /* names of files are relative to its folder; NULL: to the working one */
};

/*
 * Paths: duration warmup repeat · load.OPT · search.OPT · beside.LOAD.OPT · node.NAME.OPT · link.NAME.OPT ·
 * filter.NAME.OPT, where NAME is a filter's stage, its node as written, or its number from 1. NAME may
 * be a glob; left out ("link.mtu") it means every one. Returns how many settings took the
 * value; -ENOENT when there is no such setting, with a "did you mean"; -EINVAL when one of them
 * refuses the value.
 */
int path_set(const struct path_scope *scope, const char *text, const char *value, struct err *err);

/* What the path is set to, as text that is the same for equal values; malloc()ed. As path_set. */
int path_text(const struct path_scope *scope, const char *text, char **ret, struct err *err);

/* Does setting `wide` set everything that `narrow` names? */
bool path_covers(const char *wide, const char *narrow);
/* Is it a path of the lab: a node's, a link's or a filter's? */
bool path_of_lab(const char *path);
bool path_of_filter(const char *path);
/* Is it "lab", which chooses a lab and is not for path_set? */
bool path_is_lab(const char *path);

#endif
