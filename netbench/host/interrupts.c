/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reading of /proc/interrupts. */
#include "host/interrupts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/now.h"
#include "host/procfile.h"

enum { FILE_MAX = 1 << 26, CPUS_MAX = 8192 };

/* The whole file; it grows with interrupts times CPUs. */
static int read_all(int fd, char **ret)
{
	for (size_t len = 1 << 16; len <= FILE_MAX; len *= 2) {
		char *buf = malloc(len);
		ssize_t have;

		if (!buf)
			return -ENOMEM;
		have = procfile_pread(fd, buf, len);
		if (have >= 0) {
			*ret = buf;
			return 0;
		}
		free(buf);
		if (have != -EFBIG)
			return (int)have;
	}
	return -EFBIG;
}

/*
 * "           CPU0       CPU2": the columns are the CPUs online, by number. Returns how many, and
 * their numbers in *ret_cpus.
 */
static int parse_heading(const char *line, unsigned int **ret_cpus, size_t *ret_n)
{
	const char *end = line + strcspn(line, "\n"), *at = line;
	unsigned int *cpus;
	size_t n = 0;

	/* "CPU0 " takes at least five characters. */
	cpus = calloc((size_t)(end - line) / 4 + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	while ((at = strstr(at, "CPU")) && at < end) {
		char *next;

		cpus[n] = (unsigned int)strtoul(at + 3, &next, 10);
		if (next == at + 3 || cpus[n] >= CPUS_MAX)
			break;
		n++;
		at = next;
	}
	if (!n) {
		free(cpus);
		return -EINVAL;
	}
	*ret_cpus = cpus;
	*ret_n = n;
	return 0;
}

/*
 * " 24:   1   0  IO-APIC 5-edge …" or "LOC: 72727 70826 Local timer interrupts". The lines ERR and
 * MIS count for the machine, not for a CPU.
 */
static void parse_line(const char *line, const unsigned int *cpus, size_t n, uint64_t *counts)
{
	const char *end = line + strcspn(line, "\n"), *at = memchr(line, ':', (size_t)(end - line));

	line += strspn(line, " ");
	if (!at || !strncasecmp(line, "ERR:", 4) || !strncasecmp(line, "MIS:", 4))
		return;
	at++;
	for (size_t i = 0; i < n; i++) {
		const char *digit = at + strspn(at, " ");
		char *next;

		if (digit >= end || *digit < '0' || *digit > '9')
			return;
		counts[cpus[i]] += strtoull(digit, &next, 10);
		at = next;
	}
}

static int parse(const char *text, struct interrupts *ret)
{
	unsigned int *cpus, highest = 0;
	size_t n;
	int error = parse_heading(text, &cpus, &n);

	if (error)
		return error;
	for (size_t i = 0; i < n; i++)
		highest = cpus[i] > highest ? cpus[i] : highest;
	ret->n_cpus = (size_t)highest + 1;
	ret->counts = calloc(ret->n_cpus, sizeof(*ret->counts));
	if (!ret->counts) {
		free(cpus);
		return -ENOMEM;
	}
	while ((text = strchr(text, '\n')))
		parse_line(++text, cpus, n, ret->counts);
	free(cpus);
	return 0;
}

int interrupts_read(const char *root, struct interrupts *ret, struct err *err)
{
	struct interrupts read = {0};
	char *text = NULL;
	int fd, error;

	fd = procfile_open(root, "/proc/interrupts");
	if (fd < 0)
		return err_sys(err, fd, "cannot read '/proc/interrupts'");
	read.at_ns = now_ns();
	error = read_all(fd, &text);
	close(fd);
	if (!error)
		error = parse(text, &read);
	free(text);
	if (error)
		return err_sys(err, error, "cannot read '/proc/interrupts'");
	*ret = read;
	return 0;
}

void interrupts_release(struct interrupts *interrupts)
{
	free(interrupts->counts);
	*interrupts = (struct interrupts){0};
}

double interrupts_rate(const struct interrupts *before, const struct interrupts *after, int cpu)
{
	size_t n = before->n_cpus < after->n_cpus ? before->n_cpus : after->n_cpus;
	double seconds = ((double)after->at_ns - (double)before->at_ns) / 1e9, count = 0;

	if (seconds <= 0 || !n || (cpu >= 0 && (size_t)cpu >= n))
		return NAN;
	for (size_t i = 0; i < n; i++)
		/* A source that went away takes its counts along. */
		if ((cpu < 0 || (size_t)cpu == i) && after->counts[i] > before->counts[i])
			count += (double)(after->counts[i] - before->counts[i]);
	return count / seconds;
}
