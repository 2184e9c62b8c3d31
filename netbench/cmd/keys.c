/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the listing of options as keys and values. */
#include "cmd/keys.h"

#include <errno.h>

#include "cmd/columns.h"

static void describe(const struct opt *opt, char *buf, size_t len)
{
	const char *def = opt->def && *opt->def ? opt->def : NULL;
	char range[256];

	opt_range_text(opt, range, sizeof(range));
	snprintf(buf, len, "%s%s%s%s%s", opt->help, *range ? "; " : "", range,
		 def ? "; default " : "", def ? def : "");
}

int keys_print(const struct opt *opts, unsigned int indent, unsigned int width, FILE *out)
{
	static const struct column column[] = {{NULL, false}, {NULL, true}};
	struct columns *table = columns_new(column, sizeof(column) / sizeof(column[0]));
	int r;

	if (!table)
		return -ENOMEM;
	for (; opts->name; opts++) {
		const char *type = opt_type_text(opts);
		char key[96], what[512];
		const char *cells[] = {key, what};

		snprintf(key, sizeof(key), "%s=%s", opts->name, *type ? type : "yes|no");
		describe(opts, what, sizeof(what));
		columns_add(table, cells);
	}
	r = columns_print(table, indent, width, false, out);
	columns_free(table);
	return r;
}
