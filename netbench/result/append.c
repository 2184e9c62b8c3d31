/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how the lists of a result grow. */
#include "result/append.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *list_append(void **list, size_t n, size_t size)
{
	char *grown = *list;

	if ((n & (n - 1)) == 0) {
		if (n > SIZE_MAX / 2 / size)
			return NULL;
		grown = realloc(grown, (n ? 2 * n : 1) * size);
		if (!grown)
			return NULL;
		*list = grown;
	}
	return memset(grown + n * size, 0, size);
}
