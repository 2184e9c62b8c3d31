/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence that explains a failure, written where the facts are known. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* A place in a file the user wrote; line 0 means "no place known". The file name is borrowed. */
struct mark {
	const char *file;
	unsigned int line, col;
};

struct err {
	char text[512];
};

/*
 * Write the sentence and return -|code|, so that `return err_set(err, EINVAL, "…")` reads well.
 * err may be NULL. A text that does not fit is cut at the end.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, starting with "file:line:col: " when the mark has a line. */
int err_at(struct err *err, struct mark mark, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* As err_set, with ": " and the system's words for code added at the end. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Static analysis cannot know that code is never 0, and warns of paths that do not exist. */
#if defined(__clang_analyzer__) && !defined(ERR_DEFINED_HERE)
#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_at(...)  (err_at(__VA_ARGS__), -1)
#define err_sys(...) (err_sys(__VA_ARGS__), -1)
#endif

/* Put a sentence and ": " in front of what is there already. */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
