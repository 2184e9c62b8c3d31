/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the meaning of paths such as link.*.mtu. */
#include "suite/path.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "search/search.h"
#include "suite/read.h"
#include "topo/filter/filter.h"

/* "root.name.opt", "root.opt" or "root"; name may hold dots. A part that is left out is "". */
struct path {
	char root[16], name[80], opt[48];
};

enum { NAMES_MAX = 64 };

static int copy_part(char *to, size_t room, const char *from, size_t len)
{
	if (len >= room)
		return -EINVAL;
	memcpy(to, from, len);
	to[len] = '\0';
	return 0;
}

static int split(const char *text, struct path *path)
{
	const char *first = strchr(text, '.'), *last = strrchr(text, '.');
	int ret;

	*path = (struct path){0};
	if (!first)
		return copy_part(path->root, sizeof(path->root), text, strlen(text));
	ret = copy_part(path->root, sizeof(path->root), text, (size_t)(first - text));
	if (!ret && last > first)
		ret = copy_part(path->name, sizeof(path->name), first + 1,
				(size_t)(last - first - 1));
	else if (!ret && strcmp(path->root, "load") != 0)
		strcpy(path->name, "*");
	return ret ? ret : copy_part(path->opt, sizeof(path->opt), last + 1, strlen(last + 1));
}

/* What a path goes through, and how far it has come. */
struct walk {
	struct path path;
	const char *text, *value; /* value NULL: look, do not set */
	const char *file;	  /* names of files are relative to its folder; may be NULL */
	FILE *out;		  /* for what is there, once for each option */
	const struct opt *shown;
	const char *kind;	      /* of the members: "node" */
	const char *names[NAMES_MAX]; /* of all members, for "did you mean" */
	size_t n_names, matched;
	const struct opt *opts; /* of the last that matched */
	const char *owner;
	int set;
	struct err *err;
};

/* What a path sets is the same everywhere, so the first of many links will do. */
static void show_option(struct walk *w, const struct opt *opt, const void *cfg)
{
	char value[4200];

	if (opt == w->shown)
		return;
	opt_text(opt, cfg, value, sizeof(value));
	fprintf(w->out, "%s\n", value);
	w->shown = opt;
}

/* The path names what has these options. */
static int set_matched(struct walk *w, const char *name, const struct opt *opts, void *cfg)
{
	const struct opt *opt;
	struct err why;
	int ret;

	w->matched++;
	w->opts = opts;
	w->owner = name;
	opt = opts_find(opts, w->path.opt);
	if (!opt)
		return 0;
	if (!w->value) {
		show_option(w, opt, cfg);
		w->set++;
		return 0;
	}
	ret = set_value(opt, cfg, w->value, w->file, &why);
	if (ret)
		return err_set(w->err, ret, "%s", why.text);
	w->set++;
	return 0;
}

static void keep_name(struct walk *w, const char *name)
{
	if (w->n_names < NAMES_MAX)
		w->names[w->n_names++] = name;
}

static int set_member(struct walk *w, const char *name, const struct opt *opts, void *cfg)
{
	keep_name(w, name);
	return fnmatch(w->path.name, name, 0) ? 0 : set_matched(w, name, opts, cfg);
}

static int missing(const struct walk *w)
{
	const char *near = NULL;

	if (!w->matched) {
		near = name_nearest(w->names, w->n_names, w->path.name);
		if (near)
			return err_set(w->err, ENOENT, "'%s': no %s '%s'; did you mean '%s'?",
				       w->text, w->kind, w->path.name, near);
		return err_set(w->err, ENOENT, "'%s': no %s '%s'", w->text, w->kind, w->path.name);
	}
	near = opts_nearest(w->opts, w->path.opt);
	if (near)
		return err_set(w->err, ENOENT,
			       "'%s': %s '%s' has no option '%s'; did you mean '%s'?", w->text,
			       w->kind, w->owner, w->path.opt, near);
	return err_set(w->err, ENOENT, "'%s': %s '%s' has no option '%s'", w->text, w->kind,
		       w->owner, w->path.opt);
}

static int walk_nodes(struct walk *w, const struct path_scope *scope)
{
	int ret = 0;

	for (size_t i = 0; i < scope->lab->n_nodes && !ret; i++)
		ret = set_member(w, scope->lab->nodes[i].name, node_opts, &scope->lab->nodes[i]);
	return ret;
}

static int walk_links(struct walk *w, const struct path_scope *scope)
{
	int ret = 0;

	for (size_t i = 0; i < scope->lab->n_links && !ret; i++) {
		struct link_spec *link = &scope->lab->links[i];
		const char *name = link->name	 ? link->name
				   : scope->plan ? lab_plan_wire(scope->plan, i)->name
						 : "";

		ret = set_member(w, name, link_opts, link);
	}
	return ret;
}

/* A filter goes by its number, counted from 1, its stage and its node. */
static int walk_filters(struct walk *w, const struct path_scope *scope)
{
	int ret = 0;

	if (!scope->lab->n_filters)
		return err_set(w->err, ENOENT, "'%s': the lab has no filters", w->text);
	for (size_t i = 0; i < scope->lab->n_filters && !ret; i++) {
		struct filter_spec *filter = &scope->lab->filters[i];
		const char *stage = filter_of(filter)->kind.name, *node = filter->node;
		char number[24];

		snprintf(number, sizeof(number), "%zu", i + 1);
		keep_name(w, stage);
		if (node)
			keep_name(w, node);
		if (!fnmatch(w->path.name, stage, 0) || !strcmp(w->path.name, number) ||
		    (node && !fnmatch(w->path.name, node, 0)))
			ret = set_matched(w, stage, filter_opts, filter);
	}
	return ret;
}

static int walk_loads(struct walk *w, struct load_spec *specs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = set_member(w, specs[i].load->kind.name, specs[i].load->kind.opts,
				 specs[i].cfg);
	return ret;
}

static int walk_search(struct walk *w, const struct path_scope *scope)
{
	if (!scope->search)
		return err_set(w->err, ENOENT, "'%s': the case has no search", w->text);
	return fnmatch(w->path.name, "search", 0)
		       ? 0
		       : set_matched(w, "search", search_opts, scope->search);
}

static int no_root(const char *text, const char *root, struct err *err)
{
	static const char *const roots[] = {"lab",    "duration", "warmup", "repeat", "load",
					    "beside", "node",	  "link",   "filter", "search"};
	const char *near = name_nearest(roots, sizeof(roots) / sizeof(*roots), root);

	/* A known beginning was followed by what it does not have: no guess helps. */
	if (near && strcmp(near, root) != 0)
		return err_set(err, ENOENT, "no setting '%.128s'; did you mean '%s'?", text, near);
	return err_set(err, ENOENT,
		       "no setting '%.128s': a path is lab, duration, warmup, repeat, load.OPTION, "
		       "beside.LOAD.OPTION, search.OPTION, node.NAME.OPTION, link.NAME.OPTION or "
		       "filter.NAME.OPTION",
		       text);
}

static int walk_path(struct walk *w, const struct path_scope *scope)
{
	struct path *path = &w->path;
	const struct opt *timing;
	int ret;

	if (split(w->text, path))
		return no_root(w->text, w->text, w->err);
	timing = path->opt[0] ? NULL : opts_find(timing_opts, path->root);
	if (timing) {
		if (!w->value)
			show_option(w, timing, scope->timing);
		ret = w->value ? opt_set(timing, scope->timing, w->value, w->err) : 0;
		return ret ? ret : 1;
	}
	w->kind = path->root;
	if (!path->opt[0])
		return no_root(w->text, path->root, w->err);
	if (!strcmp(path->root, "load") && !path->name[0]) {
		strcpy(path->name, "*");
		ret = walk_loads(w, scope->main, 1);
	} else if (!strcmp(path->root, "beside")) {
		w->kind = "load beside";
		ret = walk_loads(w, scope->beside, scope->n_beside);
	} else if (!strcmp(path->root, "node")) {
		ret = walk_nodes(w, scope);
	} else if (!strcmp(path->root, "link")) {
		ret = walk_links(w, scope);
	} else if (!strcmp(path->root, "search")) {
		ret = walk_search(w, scope);
	} else if (!strcmp(path->root, "filter")) {
		ret = walk_filters(w, scope);
	} else {
		return no_root(w->text, path->root, w->err);
	}
	if (ret)
		return ret;
	return w->set ? w->set : missing(w);
}

int path_set(const struct path_scope *scope, const char *text, const char *value, struct err *err)
{
	struct walk w = {.text = text, .value = value, .file = scope->file, .err = err};

	return walk_path(&w, scope);
}

int path_text(const struct path_scope *scope, const char *text, char **ret_text, struct err *err)
{
	struct walk w = {.text = text, .err = err};
	size_t len;
	int ret;

	*ret_text = NULL;
	w.out = open_memstream(ret_text, &len);
	if (!w.out)
		return err_set(err, ENOMEM, "out of memory");
	ret = walk_path(&w, scope);
	if (fclose(w.out))
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret < 0) {
		free(*ret_text);
		*ret_text = NULL;
	}
	return ret;
}

bool path_covers(const char *wide, const char *narrow)
{
	struct path a, b;

	if (split(wide, &a) || split(narrow, &b))
		return false;
	return !strcmp(a.root, b.root) && !strcmp(a.opt, b.opt) &&
	       (!strcmp(a.name, b.name) || !fnmatch(a.name, b.name, 0));
}

bool path_of_filter(const char *path)
{
	return !strncmp(path, "filter.", 7);
}

bool path_of_lab(const char *path)
{
	return !strncmp(path, "node.", 5) || !strncmp(path, "link.", 5) || path_of_filter(path);
}

bool path_is_lab(const char *path)
{
	return !strcmp(path, "lab");
}
