/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the suite that the command line describes, for `bench`. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "suite/path.h"
#include "suite/read.h"
#include "topo/filter/filter.h"

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

static int no_key(const struct load *load, const char *key, struct err *err)
{
	const char *names[160], *near;
	size_t n = 0;

	if (!strcmp(key, "lab"))
		return err_set(err, EINVAL, "the lab is chosen with --lab, not 'lab='");
	for (const struct opt *opt = load->kind.opts; opt->name && n < 150; opt++)
		names[n++] = opt->name;
	for (const struct opt *opt = timing_opts; opt->name; opt++)
		names[n++] = opt->name;
	near = name_nearest(names, n, key);
	if (near)
		return err_set(err, EINVAL, "load '%s' has no option '%.128s'; did you mean '%s'?",
			       load->kind.name, key, near);
	return err_set(err, EINVAL, "load '%s' has no option '%.128s'", load->kind.name, key);
}

/* A load's own option first, then duration, warmup and repeat, then any path. As path_set. */
static int apply(const struct path_scope *scope, const char *setting, struct err *err)
{
	const struct load *load = scope->main->load;
	const char *equals = strchr(setting, '=');
	const struct opt *opt;
	char *key;
	int ret;

	if (!equals)
		return err_set(err, EINVAL, "'%.128s' is not of the form key=value", setting);
	key = strndup(setting, (size_t)(equals - setting));
	if (!key)
		return no_memory(err);
	opt = opts_find(load->kind.opts, key);
	if (opt)
		ret = opt_set(opt, scope->main->cfg, equals + 1, err);
	else if (opts_find(timing_opts, key) || strchr(key, '.'))
		ret = path_set(scope, key, equals + 1, err);
	else
		ret = no_key(load, key, err);
	free(key);
	return ret;
}

/* Every setting must be one of some case: what is said of filters is not one of the bare lab. */
static int apply_to_cases(struct suite *suite, struct lab_plan *const *plans, const char *setting,
			  struct err *err)
{
	bool used = false;

	for (size_t i = suite->n_cases; i-- > 0;) {
		struct case_spec *c = &suite->cases[i];
		const struct path_scope scope = {.timing = &c->timing,
						 .lab = &suite->labs[c->lab],
						 .plan = plans[c->lab],
						 .main = &c->main,
						 .search = c->search};
		struct err why;
		int ret = apply(&scope, setting, &why);

		used |= ret >= 0;
		/* The last case has more to set than the others. */
		if (ret < 0 && (ret != -ENOENT || i + 1 == suite->n_cases))
			*err = why;
		if (ret < 0 && ret != -ENOENT)
			return ret;
	}
	return used ? 0 : -EINVAL;
}

/* One "key=value" of a filter; the stage may come without its key. */
static int set_filter_key(struct filter_spec *filter, const char *word, bool first, struct err *err)
{
	const char *equals = strchr(word, '='), *near;
	const struct opt *opt;
	char key[64];

	if (first && !equals)
		return opt_set(opts_find(filter_opts, "stage"), filter, word, err);
	if (!equals)
		return err_set(err, EINVAL, "'%.128s' is not of the form key=value", word);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
	opt = opts_find(filter_opts, key);
	if (opt)
		return opt_set(opt, filter, equals + 1, err);
	near = opts_nearest(filter_opts, key);
	return err_set(err, EINVAL, "a filter has no option '%s'%s%s%s", key,
		       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The end of the word: at a comma, unless what follows has no '=' and so belongs to this value. */
static char *word_end(char *word)
{
	char *comma = strchr(word, ',');

	while (comma && strcspn(comma + 1, ",") <= strcspn(comma + 1, "="))
		comma = strchr(comma + 1, ',');
	return comma;
}

int lab_filter_words(struct lab_spec *lab, const char *text, struct err *err)
{
	struct filter_spec *filter = lab_add_filter(lab, NULL, (struct mark){0}, err);
	char *copy = strdup(text), *word = copy, *end;
	bool first = true;
	int ret = 0;

	if (!filter || !copy) {
		free(copy);
		return no_memory(err);
	}
	for (; word && !ret; word = end, first = false) {
		end = word_end(word);
		if (end)
			*end++ = '\0';
		ret = set_filter_key(filter, word, first, err);
	}
	free(copy);
	return ret;
}

/* The lab with its marks, or a pair. With filters it comes twice, the second time with them. */
static int take_labs(struct suite *suite, const struct adhoc *words, struct suite *lab,
		     struct err *err)
{
	const bool filtered = words->n_filters;
	int ret = 0;

	suite->labs = calloc(2, sizeof(*suite->labs));
	if (!suite->labs)
		return no_memory(err);
	suite->n_labs = 1;
	if (lab) {
		char *mark_file = suite->mark_file;

		suite->labs[0] = lab->labs[0];
		suite->mark_file = lab->mark_file;
		lab->n_labs = 0;
		lab->mark_file = mark_file;
	} else {
		ret = lab_pair(&suite->labs[0], err);
	}
	if (!ret && filtered && lab_spec_copy(&suite->labs[1], &suite->labs[0]))
		ret = no_memory(err);
	suite->n_labs += !ret && filtered;
	for (size_t i = 0; i < words->n_filters && !ret; i++) {
		ret = lab_filter_words(&suite->labs[1], words->filters[i], err);
		if (ret)
			err_prefix(err, "--filter");
	}
	return ret;
}

/* "frames/nft-input+xdp", after the last n filters. */
static char *filtered_name(const char *load, const struct lab_spec *lab, size_t n)
{
	char *name = NULL;
	size_t len;
	FILE *out = open_memstream(&name, &len);

	if (!out)
		return NULL;
	fputs(load, out);
	for (size_t i = lab->n_filters - n; i < lab->n_filters; i++)
		fprintf(out, "%c%s", i == lab->n_filters - n ? '/' : '+',
			filter_of(&lab->filters[i])->kind.name);
	if (fclose(out)) {
		free(name);
		return NULL;
	}
	return name;
}

static bool wants_search(const struct adhoc *words)
{
	bool wants = words->search;

	for (size_t i = 0; i < words->n_settings; i++)
		wants |= !strncmp(words->settings[i], "search.", 7);
	return wants;
}

static int fill_case(struct suite *suite, size_t i, const struct adhoc *words, struct err *err)
{
	struct case_spec *c = &suite->cases[i];
	const bool filtered = words->n_filters;

	c->lab = i;
	c->timing = suite->defaults;
	if (i)
		c->name = filtered_name(words->load, &suite->labs[i], words->n_filters);
	else if (asprintf(&c->name, "%s%s", words->load, filtered ? "/bare" : "") < 0)
		c->name = NULL;
	if (i)
		c->against.name = strdup(suite->cases[0].name);
	if (!c->name || (i && !c->against.name))
		return no_memory(err);
	if (wants_search(words)) {
		c->search = search_spec_new(words->search, err);
		if (!c->search)
			return -EINVAL;
	}
	return load_spec_init(&c->main, words->load, (struct mark){0}, err);
}

static int fill(struct suite *suite, const struct adhoc *words, struct err *err)
{
	struct lab_plan *plans[2] = {NULL, NULL};
	int ret = 0;

	suite->cases = calloc(suite->n_labs, sizeof(*suite->cases));
	if (!suite->cases)
		return no_memory(err);
	for (size_t i = 0; i < suite->n_labs && !ret; i++) {
		suite->n_cases++;
		ret = fill_case(suite, i, words, err);
		if (!ret)
			ret = lab_plan_make(&suite->labs[i], &plans[i], err);
	}
	for (size_t i = 0; i < words->n_settings && !ret; i++)
		ret = apply_to_cases(suite, plans, words->settings[i], err);
	lab_plan_free(plans[0]);
	lab_plan_free(plans[1]);
	return ret;
}

int suite_adhoc(const struct adhoc *words, struct suite *lab, struct suite **ret_suite,
		struct err *err)
{
	struct suite *suite = suite_new("command line", "bench", err);
	int ret = suite ? take_labs(suite, words, lab, err) : -ENOMEM;

	suite_free(lab);
	if (!ret)
		ret = fill(suite, words, err);
	if (ret)
		suite_free(suite);
	else
		*ret_suite = suite;
	return ret;
}
