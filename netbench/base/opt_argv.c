/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the command line as a source of option values. */
#include <errno.h>
#include <string.h>

#include "base/opt.h"

static int unknown(const struct opt *opts, const char *arg, struct err *err)
{
	char name[64];
	const char *near;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
	near = opts_nearest(opts, name);
	if (near)
		return err_set(err, EINVAL, "unknown option '--%s'; did you mean '--%s'?", name,
			       near);
	return err_set(err, EINVAL, "unknown option '--%s'", name);
}

/* "no-" in front of a flag's name turns it off. */
static const struct opt *find_flag_off(const struct opt *opts, const char *name)
{
	const struct opt *opt = strncmp(name, "no-", 3) ? NULL : opts_find(opts, name + 3);

	return opt && opt->type == OPT_BOOL ? opt : NULL;
}

/* --name, --name=value or --name value; returns how many of argv were used. */
static int take_long(const struct opt *opts, void *cfg, int argc, char **argv, struct err *err)
{
	const char *equals = strchr(argv[0], '=');
	const struct opt *opt, *off;
	char name[64];
	int ret;

	if ((equals ? (size_t)(equals - argv[0]) : strlen(argv[0])) - 2 >= sizeof(name))
		return unknown(opts, argv[0], err);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argv[0] + 2, "="), argv[0] + 2);
	opt = opts_find(opts, name);
	if (!opt) {
		off = find_flag_off(opts, name);
		if (!off)
			return unknown(opts, argv[0], err);
		if (equals)
			return err_set(err, EINVAL, "'--%s' takes no value", name);
		ret = opt_set(off, cfg, "no", err);
		return ret ? ret : 1;
	}
	if (equals) {
		ret = opt_set(opt, cfg, equals + 1, err);
		return ret ? ret : 1;
	}
	if (opt->type == OPT_BOOL) {
		ret = opt_set(opt, cfg, "yes", err);
		return ret ? ret : 1;
	}
	if (argc < 2)
		return err_set(err, EINVAL, "'--%s' needs a value", name);
	ret = opt_set(opt, cfg, argv[1], err);
	return ret ? ret : 2;
}

/* -l value, -lvalue, or flags together. */
static int take_letters(const struct opt *opts, void *cfg, int argc, char **argv, struct err *err)
{
	for (const char *letter = argv[0] + 1; *letter; letter++) {
		const struct opt *opt = opts;
		int ret;

		while (opt->name && opt->letter != *letter)
			opt++;
		if (!opt->name)
			return err_set(err, EINVAL, "unknown option '-%c' in '%.64s'", *letter,
				       argv[0]);
		if (opt->type == OPT_BOOL) {
			ret = opt_set(opt, cfg, "yes", err);
			if (ret)
				return ret;
			continue;
		}
		if (letter[1]) {
			ret = opt_set(opt, cfg, letter + 1, err);
			return ret ? ret : 1;
		}
		if (argc < 2)
			return err_set(err, EINVAL, "'-%c' needs a value", *letter);
		ret = opt_set(opt, cfg, argv[1], err);
		return ret ? ret : 2;
	}
	return 1;
}

int opts_argv(const struct opt *opts, void *cfg, int argc, char **argv, bool stop_at_operand,
	      struct err *err)
{
	int operands = 0;

	for (int i = 0; i < argc;) {
		const char *arg = argv[i];
		bool option = arg[0] == '-' && arg[1];
		int used;

		if (option && !strcmp(arg, "--")) {
			for (i++; i < argc; i++)
				argv[operands++] = argv[i];
			break;
		}
		if (!option) {
			argv[operands++] = argv[i++];
			if (!stop_at_operand)
				continue;
			while (i < argc)
				argv[operands++] = argv[i++];
			break;
		}
		used = arg[1] == '-' ? take_long(opts, cfg, argc - i, argv + i, err)
				     : take_letters(opts, cfg, argc - i, argv + i, err);
		if (used < 0)
			return used;
		i += used;
	}
	return operands;
}
