/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A suite as the user wrote it: labs and cases, typed and located. Read from YAML; every value
 * keeps its place, so that every complaint starts with file:line:col.
 */
#ifndef SUITE_SUITE_H
#define SUITE_SUITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "topo/lab.h"

struct load;
struct search_cfg; /* search/search.h */

/* duration, warmup, repeat: `defaults` of the suite, overridden by the case. */
struct timing {
	uint64_t duration_ns, warmup_ns, repeat;
};
extern const struct opt timing_opts[];

struct load_spec {
	const struct load *load;
	void *cfg; /* load->kind.cfg_size bytes */
	struct mark mark;
};
int load_spec_copy(struct load_spec *dst, const struct load_spec *src);
void load_spec_release(struct load_spec *spec);

/* A search with the defaults of a preset (NULL: the default one); NULL with err when there is none. */
struct search_cfg *search_spec_new(const char *preset, struct err *err);
struct search_cfg *search_spec_copy(const struct search_cfg *src); /* NULL is -ENOMEM */
void search_spec_free(struct search_cfg *search);

struct axis { /* one key of a matrix */
	char *path;
	char **values;
	size_t n_values;
	struct mark mark; /* of the key */
	struct mark *value_marks;
};

struct axis_value {
	char *path, *value; /* as the axis has them */
	struct mark mark;   /* of the value */
};

/* What the arms of a case are compared with: another case, or the arms with some other values. */
struct against {
	char *name; /* of the case; NULL: this one, with values */
	struct axis_value *values;
	size_t n_values;
	struct mark mark; /* line 0 and no values: nothing */
};

struct case_spec {
	char *name;
	size_t lab; /* index into suite->labs; with an axis "lab": the first of its values */
	struct load_spec main;
	struct load_spec *beside;
	size_t n_beside;
	struct axis *axes;
	size_t n_axes;
	struct against against;
	char *slope;		   /* path of an axis of plain numbers; NULL: none */
	struct search_cfg *search; /* NULL: trials at the rate of the load */
	struct mark search_mark;
	struct timing timing;
	struct mark mark;
};

struct suite {
	char *file;	 /* where it comes from: a path, or "(built in) quick" */
	char *mark_file; /* as messages name it; owned: the marks point to it */
	char *name, *about;
	struct timing defaults;
	struct lab_spec *labs;
	size_t n_labs;
	struct case_spec *cases;
	size_t n_cases;
};

/* text need not end with NUL. name is used in messages. Errors: -EINVAL, "name:line:col: …". */
int suite_parse(const char *name, const char *text, size_t len, struct suite **ret,
		struct err *err);
/* A file path. -ENOENT and friends come with the reason. Files above 1 MiB are refused. */
int suite_read(const char *path, struct suite **ret, struct err *err);
/* A file with only a lab in it (about, nodes, links), for `lab up`: one lab, named like the file, no cases. */
int suite_read_lab(const char *path, struct suite **ret, struct err *err);
int suite_parse_lab(const char *name, const char *text, size_t len, struct suite **ret,
		    struct err *err);
/* What the words of `bench` ask for. */
struct adhoc {
	const char *load;
	char *const *settings; /* "key=value" */
	size_t n_settings;
	char *const *filters; /* "STAGE,key=value,…" */
	size_t n_filters;
	const char *search; /* preset; NULL: none, unless a setting is search.OPTION */
};
/*
 * A suite of one case, in a lab as from suite_read_lab, which is freed here whatever happens; NULL:
 * two nodes and a link. With filters there are two cases, the lab without them and with them, and the
 * second is compared with the first.
 */
int suite_adhoc(const struct adhoc *words, struct suite *lab, struct suite **ret, struct err *err);
/* One more filter in the lab, from "STAGE,key=value,…". -EINVAL with a "did you mean". */
int lab_filter_words(struct lab_spec *lab, const char *text, struct err *err);
/* Index of the named lab; -EINVAL with a "did you mean". */
int suite_find_lab(const struct suite *suite, const char *name, size_t *ret, struct err *err);
void suite_free(struct suite *suite);

#endif
