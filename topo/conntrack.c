/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the counters of connection tracking. */
#include "topo/conntrack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 32 };

static const struct {
	const char *column;
	size_t offset;
} fields[] = {
	{"drop", offsetof(struct node_counters, ct_drop)},
	{"insert_failed", offsetof(struct node_counters, ct_insert_failed)},
	{"early_drop", offsetof(struct node_counters, ct_early_drop)},
	{"invalid", offsetof(struct node_counters, ct_invalid)},
};

static uint64_t read_number(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoull(text, NULL, 10);
}

/* Which field each column is; -1: none. The kernel has renamed and dropped columns before. */
static size_t read_head(char *line, int fields_at[COLUMNS_MAX])
{
	size_t n = 0;
	char *name, *save;

	for (name = strtok_r(line, " \n", &save); name && n < COLUMNS_MAX;
	     name = strtok_r(NULL, " \n", &save), n++) {
		fields_at[n] = -1;
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			if (!strcmp(fields[i].column, name))
				fields_at[n] = (int)i;
	}
	return n;
}

/* Columns with their names on top, and a line for each CPU in hexadecimal. */
static void add_statistics(FILE *file, struct node_counters *counters)
{
	int fields_at[COLUMNS_MAX];
	char line[1024], *value, *save;
	size_t n, i;

	if (!fgets(line, sizeof(line), file))
		return;
	n = read_head(line, fields_at);
	while (fgets(line, sizeof(line), file)) {
		value = strtok_r(line, " \n", &save);
		for (i = 0; value && i < n; i++, value = strtok_r(NULL, " \n", &save))
			if (fields_at[i] >= 0)
				*(uint64_t *)((char *)counters + fields[fields_at[i]].offset) +=
					strtoull(value, NULL, 16);
	}
}

void conntrack_read(struct node_counters *counters)
{
	FILE *file = fopen("/proc/thread-self/net/stat/nf_conntrack", "re");

	counters->ct_max = read_number("/proc/sys/net/netfilter/nf_conntrack_max");
	if (counters->ct_max)
		counters->ct_entries = read_number("/proc/sys/net/netfilter/nf_conntrack_count");
	if (!file)
		return;
	add_statistics(file, counters);
	fclose(file);
}
