/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the understanding of libnftables' reports. */
#include "topo/filter/nft_error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "PATH:LINE:COL-COL: Error: MESSAGE", and then the line of the file. */
struct report {
	const char *path, *message, *source;
	int path_len, message_len, source_len;
	unsigned int line, col;
};

static int line_len(const char *text)
{
	return (int)strcspn(text, "\n");
}

/* "LINE:COL-COL: " between a colon and the error; a path may have colons and digits, too. */
static bool is_place(const char *colon, const char *error, struct report *report)
{
	int end = 0;

	return sscanf(colon, ":%u:%u-%*u: %n", &report->line, &report->col, &end) == 2 &&
	       colon + end == error && report->line;
}

/* Lines without an error say through which includes it was reached. */
static bool parse(const char *text, struct report *ret)
{
	static const char word[] = "Error: ";
	const char *error = strstr(text, word), *colon;

	*ret = (struct report){.message = text, .message_len = line_len(text)};
	if (!error)
		return false;
	ret->message = error + sizeof(word) - 1;
	ret->message_len = line_len(ret->message);
	ret->source = ret->message + ret->message_len;
	ret->source += *ret->source == '\n';
	ret->source_len = line_len(ret->source);
	for (ret->path = error; ret->path > text && ret->path[-1] != '\n'; ret->path--)
		;
	colon = memchr(ret->path, ':', (size_t)(error - ret->path));
	while (colon && !is_place(colon, error, ret))
		colon = memchr(colon + 1, ':', (size_t)(error - colon - 1));
	ret->path_len = colon ? (int)(colon - ret->path) : 0;
	return colon;
}

/* Statements and expressions that kernels are built without. */
static bool is_feature(const char *word, size_t len)
{
	static const char *const features[] = {
		"ct",	  "dnat",   "dup",     "fib",	   "flow",	 "flowtable", "fwd",
		"jhash",  "last",   "limit",   "log",	   "masquerade", "meter",     "notrack",
		"numgen", "osf",    "queue",   "quota",	   "redirect",	 "reject",    "rt",
		"snat",	  "socket", "symhash", "synproxy", "tproxy",	 "tunnel",    "ipsec",
	};

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (strlen(features[i]) == len && !strncmp(features[i], word, len))
			return true;
	return false;
}

static size_t word_len(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyz");
}

/* "No such file" means a missing feature of the kernel as well as a missing chain of the user's. */
static bool is_lack(const struct report *report)
{
	static const char *const words[] = {"Operation not supported", "Protocol not supported",
					    "Address family not supported"};
	static const char missing[] = "No such file";
	const char *source = report->source;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(report->message, (size_t)report->message_len, words[i],
			   strlen(words[i])))
			return true;
	if (!source ||
	    !memmem(report->message, (size_t)report->message_len, missing, sizeof(missing) - 1))
		return false;
	if (report->col && (int)report->col <= report->source_len &&
	    is_feature(source + report->col - 1, word_len(source + report->col - 1)))
		return true;
	source += strspn(source, " \t");
	return word_len(source) == strlen("flowtable") && is_feature(source, word_len(source));
}

int nft_error(const char *file, const char *text, struct err *err)
{
	const char *slash = strrchr(file, '/');
	struct report report;
	int folder;
	bool lack;

	if (!parse(text, &report)) {
		if (report.source_len)
			return err_set(err, EINVAL, "%s: %.*s: '%.*s'", file, report.message_len,
				       report.message, report.source_len, report.source);
		return err_set(err, EINVAL, "%s: %.*s", file,
			       report.message_len ? report.message_len : 14,
			       report.message_len ? report.message : "cannot load it");
	}
	if (report.path_len > 2 && !strncmp(report.path, "./", 2)) {
		report.path += 2;
		report.path_len -= 2;
	}
	folder = slash && report.path[0] != '/' ? (int)(slash + 1 - file) : 0;
	lack = is_lack(&report);
	return err_set(err, lack ? EOPNOTSUPP : EINVAL, "%.*s%.*s:%u:%u: %.*s%s", folder, file,
		       report.path_len, report.path, report.line, report.col, report.message_len,
		       report.message, lack ? ": the kernel has no such feature" : "");
}
