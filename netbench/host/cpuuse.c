/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the accounting of CPU time: reads /proc/stat, softnet_stat and softirqs, twice. */
#include "host/cpuuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "host/procfile.h"

enum { CPUS_MAX = 8192 };

struct cpuuse {
	int stat, softnet, softirqs; /* -1: not there */
	uint64_t tick_ns;
	size_t n_cpus;
	char *buf;
	size_t len;
};

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

/* The number of a line that starts with "cpu17 ", or -1. */
static long cpu_of(const char *line, const char **ret_rest)
{
	char *end;
	long cpu;

	if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
		return -1;
	cpu = strtol(line + 3, &end, 10);
	*ret_rest = end;
	return cpu < CPUS_MAX ? cpu : -1;
}

/* proc_stat(5): user nice system idle iowait irq softirq steal guest guest_nice, in ticks. */
static void parse_cpu(const char *text, uint64_t tick_ns, struct cpu_counts *cpu)
{
	uint64_t field[8] = {0};
	char *end;

	for (unsigned int i = 0; i < 8; i++) {
		field[i] = strtoull(text, &end, 10) * tick_ns;
		if (end == text)
			break;
		text = end;
	}
	cpu->online = true;
	cpu->user_ns = field[0] + field[1];
	cpu->system_ns = field[2];
	cpu->idle_ns = field[3] + field[4];
	cpu->irq_ns = field[5];
	cpu->softirq_ns = field[6];
	cpu->steal_ns = field[7];
}

static void parse_stat(const char *text, uint64_t tick_ns, struct cpuuse_snap *snap)
{
	for (const char *line = text, *rest; line && *line; line = next_line(line)) {
		long cpu = cpu_of(line, &rest);

		if (cpu >= 0 && (size_t)cpu < snap->n_cpus)
			parse_cpu(rest, tick_ns, &snap->cpus[cpu]);
		else if (!strncmp(line, "intr ", 5))
			snap->interrupts = strtoull(line + 5, NULL, 10);
		else if (!strncmp(line, "ctxt ", 5))
			snap->context_switches = strtoull(line + 5, NULL, 10);
	}
}

/*
 * softnet_seq_show() in net/core/net-procfs.c: one line of hexadecimal words per online CPU:
 * 0 processed, 1 dropped, 2 time_squeeze, … and from Linux 5.10 on 12 = the number of the CPU.
 * Before that, lines and online CPUs have to be counted off against each other.
 */
static void parse_softnet(const char *text, struct cpuuse_snap *snap)
{
	size_t at = 0;

	for (const char *line = text; line && *line; line = next_line(line), at++) {
		unsigned long word[13] = {0};
		unsigned int n = 0;
		const char *from = line;
		char *end;

		while (n < 13 && *from != '\n' && *from) {
			word[n++] = strtoul(from, &end, 16);
			if (end == from)
				return;
			from = end + strspn(end, " ");
		}
		while (n < 13 && at < snap->n_cpus && !snap->cpus[at].online)
			at++;
		if (n == 13)
			at = word[12];
		if (at >= snap->n_cpus)
			continue;
		snap->cpus[at].softnet_dropped = (uint32_t)word[1];
		snap->cpus[at].softnet_squeezed = (uint32_t)word[2];
	}
}

/* A line of columns; column i stands for CPU i, possible CPUs that are offline included. */
static void parse_softirq(const char *text, size_t offset, struct cpuuse_snap *snap)
{
	for (size_t i = 0; i < snap->n_cpus; i++) {
		char *end;
		uint32_t count = (uint32_t)strtoul(text, &end, 10);

		if (end == text || memchr(text, '\n', (size_t)(end - text)))
			return;
		memcpy((char *)&snap->cpus[i] + offset, &count, sizeof(count));
		text = end;
	}
}

static void parse_softirqs(const char *text, struct cpuuse_snap *snap)
{
	const char *tx = strstr(text, "NET_TX:"), *rx = strstr(text, "NET_RX:");

	if (tx)
		parse_softirq(tx + 7, offsetof(struct cpu_counts, net_tx), snap);
	if (rx)
		parse_softirq(rx + 7, offsetof(struct cpu_counts, net_rx), snap);
}

/* Room for the largest of the files as it is now, twice over: numbers and lines grow. */
static int size_up(struct cpuuse *use)
{
	const int fds[] = {use->stat, use->softnet, use->softirqs};
	size_t largest = 0;

	use->len = 1 << 14;
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		ssize_t have;

		if (fds[i] < 0)
			continue;
		for (;;) {
			char *grown = realloc(use->buf, use->len);

			if (!grown)
				return -ENOMEM;
			use->buf = grown;
			have = procfile_pread(fds[i], use->buf, use->len);
			if (have != -EFBIG)
				break;
			use->len *= 2;
		}
		if (have < 0)
			return (int)have;
		if ((size_t)have > largest)
			largest = (size_t)have;
	}
	if (2 * largest > use->len) {
		char *grown = realloc(use->buf, 2 * largest);

		if (!grown)
			return -ENOMEM;
		use->buf = grown;
		use->len = 2 * largest;
	}
	return 0;
}

static size_t count_cpus(const char *text)
{
	size_t n = 0;

	for (const char *line = text, *rest; line && *line; line = next_line(line)) {
		long cpu = cpu_of(line, &rest);

		if (cpu >= 0 && (size_t)cpu >= n)
			n = (size_t)cpu + 1;
	}
	return n;
}

int cpuuse_open(const char *root, struct cpuuse **ret, struct err *err)
{
	struct cpuuse *use = calloc(1, sizeof(*use));
	int error;

	if (!use)
		return err_sys(err, ENOMEM, "cannot watch the CPUs");
	use->stat = procfile_open(root, "/proc/stat");
	use->softnet = procfile_open(root, "/proc/net/softnet_stat");
	use->softirqs = procfile_open(root, "/proc/softirqs");
	use->tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	error = use->stat < 0 ? use->stat : size_up(use);
	if (!error && procfile_pread(use->stat, use->buf, use->len) > 0)
		use->n_cpus = count_cpus(use->buf);
	if (!error && !use->n_cpus)
		error = -ENODATA;
	if (error) {
		cpuuse_close(use);
		return err_sys(err, error, "cannot read '/proc/stat'");
	}
	*ret = use;
	return 0;
}

void cpuuse_close(struct cpuuse *use)
{
	if (!use)
		return;
	if (use->stat >= 0)
		close(use->stat);
	if (use->softnet >= 0)
		close(use->softnet);
	if (use->softirqs >= 0)
		close(use->softirqs);
	free(use->buf);
	free(use);
}

int cpuuse_snap_init(const struct cpuuse *use, struct cpuuse_snap *ret)
{
	struct cpu_counts *cpus = calloc(use->n_cpus, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	*ret = (struct cpuuse_snap){.n_cpus = use->n_cpus, .cpus = cpus};
	return 0;
}

void cpuuse_snap_release(struct cpuuse_snap *snap)
{
	free(snap->cpus);
	*snap = (struct cpuuse_snap){0};
}

int cpuuse_take(struct cpuuse *use, struct cpuuse_snap *snap, struct err *err)
{
	uint64_t before_ns;
	ssize_t have;

	memset(snap->cpus, 0, snap->n_cpus * sizeof(*snap->cpus));
	/* The times first, and the clock close around them. */
	before_ns = now_ns();
	have = procfile_pread(use->stat, use->buf, use->len);
	snap->at_ns = before_ns + (now_ns() - before_ns) / 2;
	if (have < 0)
		return err_sys(err, (int)have, "cannot read '/proc/stat'");
	parse_stat(use->buf, use->tick_ns, snap);
	if (use->softnet >= 0 && procfile_pread(use->softnet, use->buf, use->len) > 0)
		parse_softnet(use->buf, snap);
	if (use->softirqs >= 0 && procfile_pread(use->softirqs, use->buf, use->len) > 0)
		parse_softirqs(use->buf, snap);
	return 0;
}

/* Some counters of the kernel are known to step back a little (steal, idle of a CPU coming back). */
static double gained(uint64_t before, uint64_t after)
{
	return after > before ? (double)(after - before) : 0;
}

/*
 * Only idle time is kept to the nanosecond (by the tickless code) and merely printed in ticks of
 * 10 ms. The other times are guessed: whoever is on the CPU when the timer ticks is charged the
 * whole tick. So the busy share is what idle leaves of the window, and the ticks only say how to
 * divide it. Ticks may add up to more or less than the window; shares in proportion do not: each
 * stays within 0 … 1 and together with idle they make 1.
 *
 * Idle and I/O wait are cut to whole ticks at both ends, so a CPU that slept throughout may seem
 * busy for up to two ticks. Where no tick saw it busy either, such a rest is idle. A larger one is
 * work that always falls between ticks (woken by the timer and done before the next): system time.
 */
static void share_out(const struct cpu_counts *before, const struct cpu_counts *after,
		      double window_ns, double tick_ns, struct cpu_share *share)
{
	double user = gained(before->user_ns, after->user_ns);
	double system = gained(before->system_ns, after->system_ns);
	double irq = gained(before->irq_ns, after->irq_ns);
	double softirq = gained(before->softirq_ns, after->softirq_ns);
	double steal = gained(before->steal_ns, after->steal_ns);
	double ticks = user + system + irq + softirq + steal;
	double busy = window_ns - gained(before->idle_ns, after->idle_ns);

	if (busy < 0 || (ticks == 0 && busy <= 2 * tick_ns))
		busy = 0;
	busy /= window_ns;
	if (ticks == 0)
		system = ticks = 1;
	share->user = busy * user / ticks;
	share->system = busy * system / ticks;
	share->irq = busy * irq / ticks;
	share->softirq = busy * softirq / ticks;
	share->steal = busy * steal / ticks;
	share->idle = 1 - busy;
}

int cpuuse_delta(const struct cpuuse_snap *before, const struct cpuuse_snap *after,
		 struct cpuuse_delta *ret)
{
	struct cpuuse_delta delta = {.window_ns = after->at_ns - before->at_ns};
	size_t n = before->n_cpus < after->n_cpus ? before->n_cpus : after->n_cpus;
	double tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);

	if (after->at_ns <= before->at_ns)
		return -EINVAL;
	delta.cpus = calloc(n ? n : 1, sizeof(*delta.cpus));
	if (!delta.cpus)
		return -ENOMEM;
	delta.context_switches = after->context_switches - before->context_switches;
	delta.interrupts = after->interrupts - before->interrupts;
	for (size_t i = 0; i < n; i++) {
		const struct cpu_counts *old = &before->cpus[i], *new = &after->cpus[i];
		struct cpu_delta *cpu = &delta.cpus[delta.n_cpus];

		if (!old->online || !new->online)
			continue;
		cpu->share.cpu = (int)i;
		share_out(old, new, (double)delta.window_ns, tick_ns, &cpu->share);
		cpu->net_rx = new->net_rx - old->net_rx;
		cpu->net_tx = new->net_tx - old->net_tx;
		cpu->softnet_dropped = new->softnet_dropped - old->softnet_dropped;
		cpu->softnet_squeezed = new->softnet_squeezed - old->softnet_squeezed;
		delta.softnet_dropped += cpu->softnet_dropped;
		delta.softnet_squeezed += cpu->softnet_squeezed;
		delta.busy_cpus += 1 - cpu->share.idle - cpu->share.steal;
		delta.steal_cpus += cpu->share.steal;
		delta.n_cpus++;
	}
	*ret = delta;
	return 0;
}

void cpuuse_delta_release(struct cpuuse_delta *delta)
{
	free(delta->cpus);
	*delta = (struct cpuuse_delta){0};
}
