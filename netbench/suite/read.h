/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of suites share: from located YAML values to typed structs. */
#ifndef SUITE_READ_H
#define SUITE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "suite/suite.h"
#include "suite/tree.h"

/* -EINVAL at the value: "'what' wants KIND, not …". */
int read_kind(const struct tree_entry *entry, enum tree_kind kind, const char *what,
	      struct err *err);

/* Does the option name a file? */
bool opt_is_file(const struct opt *opt);
/* opt_set; the name of a file that is not absolute is relative to the folder of `file`. */
int set_value(const struct opt *opt, void *cfg, const char *text, const char *file,
	      struct err *err);
/*
 * Every key of map must be in keys (NULL-terminated, may be NULL: the caller reads those) or be an
 * option, which is set. where is for messages: "case", "load 'tcp'".
 */
int read_options(const struct tree_value *map, const struct opt *opts, void *cfg,
		 const char *const *keys, const char *where, struct err *err);
/* A text, or a list joined by ",", malloc()ed. what is for messages. */
int read_text(const struct tree_value *value, const char *what, char **ret, struct err *err);
/* A text that may be part of a path or a file name: letters, digits, "-_." and those in also. */
int read_name(const char *text, struct mark mark, const char *what, const char *also, char **ret,
	      struct err *err);
/* nodes, links and filters of a map into lab, which has its name and mark. more: keys the caller reads. */
int read_lab(const struct tree_value *map, const char *const *more, struct lab_spec *lab,
	     struct err *err);
/* The lab of suites without labs and of `bench`: nodes a and b and the link between them. */
int lab_pair(struct lab_spec *lab, struct err *err);
/*
 * One more filter, with the defaults, for `stage` (NULL: that is an option still to be read). NULL
 * with err when there is no such stage.
 */
struct filter_spec *lab_add_filter(struct lab_spec *lab, const char *stage, struct mark mark,
				   struct err *err);
/* The cases of a suite whose labs and defaults are read. */
int read_cases(struct suite *suite, const struct tree_value *root, struct err *err);
void case_release(struct case_spec *c);
/* `search`, `against` and `slope` of a case whose matrix is read. */
int read_comparison(const struct tree_value *map, struct case_spec *c, struct err *err);
/* What `against` names must be there: when all cases are read. */
int check_baselines(const struct suite *suite, struct err *err);
void comparison_release(struct case_spec *c);
/* The named load, with the defaults in spec->cfg. */
int load_spec_init(struct load_spec *spec, const char *name, struct mark mark, struct err *err);

/* An empty suite: file and name duplicated, defaults set. */
struct suite *suite_new(const char *file, const char *name, struct err *err);

#endif
