/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the guess behind "did you mean": edit distance, a swap of neighbours counting as one edit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

enum { WORD_MAX = 48 };

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	unsigned int rows[3][WORD_MAX + 1];
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= len_b; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= len_a; i++) {
		unsigned int *recycled = before;

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= len_b; j++) {
			row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = least(row[j], least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = recycled;
	}
	return last[len_b];
}

const char *name_nearest(const char *const *names, size_t n, const char *word)
{
	size_t len = strnlen(word, WORD_MAX + 1);
	unsigned int best = len < 5 ? 2 : len < 8 ? 3 : 4; /* not near any more */
	const char *near = NULL;

	if (!len || len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t name_len = strnlen(names[i], WORD_MAX + 1);
		unsigned int d;

		if (name_len > WORD_MAX)
			continue;
		d = distance(word, len, names[i], name_len);
		/* "offload" or "cong" is a beginning, not a slip; but a slip of one letter is
		 * nearer. */
		if (len >= 3 && name_len > len && !strncmp(names[i], word, len))
			d = least(d, 1);
		/* A word with nothing in common is no guess, however short both are. */
		if (d < best && d < name_len) {
			best = d;
			near = names[i];
		}
	}
	return near;
}

const char *opts_nearest(const struct opt *opts, const char *word)
{
	const char *names[128];
	size_t n = 0;

	for (; opts->name && n < sizeof(names) / sizeof(*names); opts++)
		names[n++] = opts->name;
	return name_nearest(names, n, word);
}
