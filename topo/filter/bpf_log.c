/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the catching of libbpf's messages. */
#include "topo/filter/bpf_log.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct bpf_log *catching;

/* The first warning is the cause, the ones after it are its consequences. */
static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	static const char prefix[] = "libbpf: ";
	char line[sizeof(catching->text)];
	const char *start = line;

	if (!catching || catching->text[0] || level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	if (!strncmp(start, prefix, sizeof(prefix) - 1))
		start += sizeof(prefix) - 1;
	snprintf(catching->text, sizeof(catching->text), "%.*s", (int)strcspn(start, "\n"), start);
	return 0;
}

void bpf_log_begin(struct bpf_log *log)
{
	log->text[0] = '\0';
	catching = log;
	libbpf_set_print(keep);
}

void bpf_log_end(void)
{
	catching = NULL;
}
