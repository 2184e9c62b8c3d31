/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that grow by one element, for the files that own the parts of a result. */
#ifndef RESULT_APPEND_H
#define RESULT_APPEND_H

#include <stddef.h>

/*
 * One more element at the end of a list whose room is not recorded: room is doubled whenever n is a
 * power of two. Returns zeroed memory, or NULL with the list as it was; the caller counts n up.
 */
void *list_append(void **list, size_t n, size_t size);

/* For lists of differently typed elements: void ** must not alias them. */
#define APPEND(list, n)                                                 \
	({                                                              \
		void *list_ = (list);                                   \
		void *new_ = list_append(&list_, (n), sizeof(*(list))); \
		(list) = list_;                                         \
		(__typeof__(list))new_;                                 \
	})

#endif
