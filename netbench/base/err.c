/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the wording helpers of struct err. */
#define ERR_DEFINED_HERE
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -abs(code);
}

int err_at(struct err *err, struct mark mark, int code, const char *fmt, ...)
{
	va_list ap;
	int at = 0;

	if (err) {
		if (mark.line)
			at = snprintf(err->text, sizeof(err->text),
				      "%s:%u:%u: ", mark.file ? mark.file : "-", mark.line,
				      mark.col);
		if (at < 0 || at >= (int)sizeof(err->text))
			at = 0;
		va_start(ap, fmt);
		vsnprintf(err->text + at, sizeof(err->text) - at, fmt, ap);
		va_end(ap);
	}
	return -abs(code);
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t at;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		at = strlen(err->text);
		snprintf(err->text + at, sizeof(err->text) - at, ": %s", strerror(abs(code)));
	}
	return -abs(code);
}

void err_prefix(struct err *err, const char *fmt, ...)
{
	struct err old;
	va_list ap;
	size_t at;

	if (!err)
		return;
	old = *err;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	at = strlen(err->text);
	snprintf(err->text + at, sizeof(err->text) - at, ": %s", old.text);
}
