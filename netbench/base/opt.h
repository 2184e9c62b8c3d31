/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options, declared once: one table gives the YAML keys, the command-line flags, the help, the
 * manual and the --dry-run listing of a config struct.
 */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum opt_type {
	OPT_BOOL,   /* bool: yes/no, true/false, on/off, 1/0; a bare flag on the command line */
	OPT_COUNT,  /* uint64_t: a plain number; k, M, G are decimal prefixes */
	OPT_SIZE,   /* uint64_t bytes: Ki, Mi, Gi (and K, M, G, meaning the same) */
	OPT_TIME,   /* uint64_t ns: ns, us, ms, s, min, h; a plain number is seconds */
	OPT_RATE,   /* struct rate: "max", "100kpps", "1.5Gbit/s" (pps, bps, bit/s, packet/s) */
	OPT_RATIO,  /* double: "0.5%", "0.005"; never below 0 */
	OPT_CHOICE, /* int: index into choices */
	OPT_SET,    /* uint64_t: bit i = choices[i]; "off" = none, "on" = all, or a comma list */
	OPT_TEXT,   /* char *: owned by the config, freed by opts_release; may be NULL */
	OPT_LIST,   /* struct texts: each use adds one text; for flags that may be repeated */
};

struct texts {
	char **list; /* n strings, owned like OPT_TEXT */
	size_t n;
};

enum rate_unit { RATE_MAX, RATE_PPS, RATE_BPS };

struct rate {
	uint64_t value; /* packet/s or bit/s; 0 when unit is RATE_MAX */
	enum rate_unit unit;
};

struct opt {
	const char *name;
	enum opt_type type;
	char letter; /* short flag on the command line; 0: none */
	size_t offset;
	const char *def; /* text, read as a user's value; NULL: zero or NULL */
	uint64_t min,
		max; /* for COUNT, SIZE, TIME, the value of RATE; RATIO in millionths; max 0: none */
	const char *const *choices; /* CHOICE, SET: NULL-terminated */
	const char *metavar;	    /* for help: "N", "NODE"; NULL: derived from the type */
	const char *help;
};

/* A table ends with an opt whose name is NULL. All functions return 0 or -errno with err set. */
int opt_set(const struct opt *opt, void *cfg, const char *text, struct err *err);
/* cfg must be zeroed memory of the table's struct. */
int opts_default(const struct opt *opts, void *cfg, struct err *err);
void opts_release(const struct opt *opts, void *cfg);
/* dst is raw memory of size bytes; strings are duplicated. -ENOMEM leaves dst released. */
int opts_copy(const struct opt *opts, size_t size, void *dst, const void *src);
const struct opt *opts_find(const struct opt *opts, const char *name);
/* The value as text that opt_set would read back to the same value; "" for a NULL text or list. */
void opt_text(const struct opt *opt, const void *cfg, char *buf, size_t len);
/*
 * All options as "name=value" lines, the same for equal configs; those that skip() names are left out
 * (NULL: none). malloc()ed; NULL when out of memory.
 */
char *opts_text(const struct opt *opts, const void *cfg, bool (*skip)(const char *name));
/* The nearest name of a list (edit distance), or NULL when nothing is near. For "did you mean". */
const char *name_nearest(const char *const *names, size_t n, const char *word);
const char *opts_nearest(const struct opt *opts, const char *word);

/* For help and the manual: "TIME" or the metavar; "" for a flag. */
const char *opt_type_text(const struct opt *opt);
/* What it accepts: "10ms to 24h", "forward, reverse, both"; "" when anything of the type goes. */
void opt_range_text(const struct opt *opt, char *buf, size_t len);
/* Both as part of a sentence: "a time from 10ms to 24h", "one of forward, reverse, both". */
void opt_wants_text(const struct opt *opt, char *buf, size_t len);

/*
 * Command line: --name VALUE, --name=VALUE, -l VALUE, -lVALUE, --flag, --no-flag, -ab for two flags
 * with letters; "--" ends options. argv[0] is the first argument, not the program's name.
 * Operands are moved to the front of argv in order and their number is returned; an option that is
 * not in the table is -EINVAL with a "did you mean". With stop_at_operand, everything from the
 * first operand on is an operand (for `lab exec NODE COMMAND…`).
 */
int opts_argv(const struct opt *opts, void *cfg, int argc, char **argv, bool stop_at_operand,
	      struct err *err);

/* "  -d, --duration TIME  help (10ms to 24h; default 3s)": one line per option, aligned, wrapped. */
void opts_help(const struct opt *opts, FILE *out);

#endif
