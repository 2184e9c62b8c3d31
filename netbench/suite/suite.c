/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the suite as a whole: its heading, its labs, and the way in from a file. */
#include "suite/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/read.h"

enum { LABS_MAX = 1024 };

#define HOUR UINT64_C(3600000000000)

const struct opt timing_opts[] = {
	{.name = "duration",
	 .type = OPT_TIME,
	 .offset = offsetof(struct timing, duration_ns),
	 .def = "3s",
	 .min = 10000000,
	 .max = 24 * HOUR,
	 .letter = 'd',
	 .help = "length of the measured window"},
	{.name = "warmup",
	 .type = OPT_TIME,
	 .offset = offsetof(struct timing, warmup_ns),
	 .def = "500ms",
	 .max = HOUR,
	 .letter = 'w',
	 .help = "traffic before the window, not measured"},
	{.name = "repeat",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct timing, repeat),
	 .def = "3",
	 .min = 1,
	 .max = 10000,
	 .letter = 'r',
	 .help = "trials of each arm; the median counts"},
	{0},
};

static int read_labs(struct suite *suite, const struct tree_value *root, struct err *err)
{
	const struct tree_entry *labs = tree_find(root, "labs");
	size_t n = labs && labs->value->kind == TREE_MAP ? labs->value->n : 0;
	int ret = labs ? read_kind(labs, TREE_MAP, "labs", err) : 0;

	if (ret)
		return ret;
	if (n > LABS_MAX)
		return err_at(err, labs->value->mark, EINVAL, "more than %d labs", LABS_MAX);
	suite->labs = calloc(n ? n : 1, sizeof(*suite->labs));
	if (!suite->labs)
		return err_set(err, ENOMEM, "out of memory");
	if (!n) {
		suite->n_labs = 1;
		return lab_pair(&suite->labs[0], err);
	}
	for (suite->n_labs = 0; suite->n_labs < n && !ret; suite->n_labs++) {
		const struct tree_entry *entry = &labs->value->entries[suite->n_labs];
		struct lab_spec *lab = &suite->labs[suite->n_labs];

		lab->mark = entry->key_mark;
		ret = read_name(entry->key, entry->key_mark, "lab", "", &lab->name, err);
		if (!ret)
			ret = read_kind(entry, TREE_MAP, lab->name, err);
		if (!ret)
			ret = read_lab(entry->value, NULL, lab, err);
	}
	return ret;
}

int suite_find_lab(const struct suite *suite, const char *name, size_t *ret, struct err *err)
{
	const char *names[256], *near;
	size_t n = 0;

	for (size_t i = 0; i < suite->n_labs; i++) {
		if (!strcmp(suite->labs[i].name, name)) {
			*ret = i;
			return 0;
		}
		if (n < 256)
			names[n++] = suite->labs[i].name;
	}
	near = name_nearest(names, n, name);
	if (near)
		return err_set(err, EINVAL, "no lab '%.64s'; did you mean '%s'?", name, near);
	return err_set(err, EINVAL, "no lab '%.64s'", name);
}

static int read_heading(struct suite *suite, const struct tree_value *root, struct err *err)
{
	static const char *const keys[] = {"suite", "about", "defaults", "labs", "cases", NULL};
	const struct tree_entry *part;
	char *name;
	int ret = read_options(root, NULL, NULL, keys, "the suite", err);

	part = tree_find(root, "suite");
	if (!ret && part) {
		ret = read_kind(part, TREE_TEXT, "suite", err);
		if (!ret)
			ret = read_name(part->value->text, part->value->mark, "suite", "", &name,
					err);
		if (!ret) {
			free(suite->name);
			suite->name = name;
		}
	}
	part = tree_find(root, "about");
	if (!ret && part) {
		ret = read_kind(part, TREE_TEXT, "about", err);
		if (!ret)
			ret = read_text(part->value, "about", &suite->about, err);
	}
	part = tree_find(root, "defaults");
	if (!ret && part && part->value->kind != TREE_NOTHING) {
		ret = read_kind(part, TREE_MAP, "defaults", err);
		if (!ret)
			ret = read_options(part->value, timing_opts, &suite->defaults, NULL,
					   "'defaults'", err);
	}
	return ret;
}

/* "dir/quick.yaml" names the suite "quick". */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t len = strlen(base);

	if (len > 5 && !strcmp(base + len - 5, ".yaml"))
		len -= 5;
	return strndup(base, len);
}

struct suite *suite_new(const char *file, const char *name, struct err *err)
{
	struct suite *suite = calloc(1, sizeof(*suite));

	if (suite) {
		suite->file = strdup(file);
		suite->mark_file = strdup(file);
		suite->name = name ? strdup(name) : name_of(file);
	}
	if (!suite || !suite->file || !suite->mark_file || !suite->name ||
	    opts_default(timing_opts, &suite->defaults, err)) {
		suite_free(suite);
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	return suite;
}

static int read_suite(struct suite *suite, const struct tree_value *root, struct err *err)
{
	const struct tree_entry *nodes;
	int ret;

	if (root->kind != TREE_MAP)
		return err_at(err, root->mark, EINVAL, "a suite is a map, not %s",
			      tree_kind_name(root->kind));
	nodes = tree_find(root, "nodes");
	if (nodes && !tree_find(root, "cases"))
		return err_at(err, nodes->key_mark, EINVAL,
			      "this is a lab, not a suite: netbench lab up %s", suite->file);
	ret = read_heading(suite, root, err);
	if (!ret)
		ret = read_labs(suite, root, err);
	return ret ? ret : read_cases(suite, root, err);
}

/* A file that is a lab becomes a suite with one lab and no cases. */
static int read_lab_file(struct suite *suite, const struct tree_value *root, struct err *err)
{
	static const char *const keys[] = {"about", NULL};
	const struct tree_entry *about, *cases;
	struct lab_spec *lab;
	int ret;

	if (root->kind != TREE_MAP)
		return err_at(err, root->mark, EINVAL, "a lab is a map, not %s",
			      tree_kind_name(root->kind));
	cases = tree_find(root, "cases");
	if (cases)
		return err_at(err, cases->key_mark, EINVAL,
			      "this is a suite, not a lab: netbench run %s", suite->file);
	about = tree_find(root, "about");
	if (about) {
		ret = read_text(about->value, "about", &suite->about, err);
		if (ret)
			return ret;
	}
	suite->labs = lab = calloc(1, sizeof(*suite->labs));
	if (!lab)
		return err_set(err, ENOMEM, "out of memory");
	suite->n_labs = 1;
	lab->mark = root->mark;
	lab->name = strdup(suite->name);
	if (!lab->name)
		return err_set(err, ENOMEM, "out of memory");
	return read_lab(root, keys, lab, err);
}

static int parse(const char *file, const char *text, size_t len,
		 int (*read)(struct suite *, const struct tree_value *, struct err *),
		 struct suite **ret_suite, struct err *err)
{
	struct suite *suite = suite_new(file, NULL, err);
	struct tree *tree;
	int ret;

	if (!suite)
		return -ENOMEM;
	ret = tree_parse(suite->mark_file, text, len, &tree, err);
	if (!ret) {
		ret = read(suite, tree_root(tree), err);
		tree_free(tree);
	}
	if (ret) {
		suite_free(suite);
		return ret;
	}
	*ret_suite = suite;
	return 0;
}

int suite_parse(const char *name, const char *text, size_t len, struct suite **ret, struct err *err)
{
	return parse(name, text, len, read_suite, ret, err);
}

int suite_parse_lab(const char *name, const char *text, size_t len, struct suite **ret,
		    struct err *err)
{
	return parse(name, text, len, read_lab_file, ret, err);
}

/* At most one byte more than a suite may have: enough for the parser to refuse it. */
static int slurp(const char *path, char *text, size_t *ret_len, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	while (len <= TREE_BYTES_MAX) {
		n = read(fd, text + len, TREE_BYTES_MAX + 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int ret = err_sys(err, errno, "cannot read '%s'", path);

			close(fd);
			return ret;
		}
		if (!n)
			break;
		len += (size_t)n;
	}
	close(fd);
	*ret_len = len;
	return 0;
}

static int read_file(const char *path,
		     int (*read)(struct suite *, const struct tree_value *, struct err *),
		     struct suite **ret_suite, struct err *err)
{
	char *text = malloc(TREE_BYTES_MAX + 1);
	size_t len = 0;
	int ret;

	if (!text)
		return err_set(err, ENOMEM, "out of memory");
	ret = slurp(path, text, &len, err);
	if (!ret)
		ret = parse(path, text, len, read, ret_suite, err);
	free(text);
	return ret;
}

int suite_read(const char *path, struct suite **ret, struct err *err)
{
	return read_file(path, read_suite, ret, err);
}

int suite_read_lab(const char *path, struct suite **ret, struct err *err)
{
	return read_file(path, read_lab_file, ret, err);
}

void suite_free(struct suite *suite)
{
	if (!suite)
		return;
	for (size_t i = 0; i < suite->n_cases; i++)
		case_release(&suite->cases[i]);
	free(suite->cases);
	for (size_t i = 0; i < suite->n_labs; i++)
		lab_spec_release(&suite->labs[i]);
	free(suite->labs);
	free(suite->about);
	free(suite->name);
	free(suite->file);
	free(suite->mark_file);
	free(suite);
}
