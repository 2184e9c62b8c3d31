/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the question who else was using the CPUs: reads every /proc/PID/stat, twice. */
#include "host/others.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "host/procfile.h"

enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD of include/linux/sched.h */

/* proc_pid_stat(5). The name is in parentheses and may contain anything, parentheses included. */
static int parse(const char *text, uint64_t tick_ns, struct other *other)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user, system, reaped_user, reaped_system, start;
	unsigned int flags;
	int parent;

	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d "
		   "%llu",
		   &parent, &flags, &user, &system, &reaped_user, &reaped_system, &start) != 7)
		return -EINVAL;
	*other = (struct other){
		.pid = atoi(text),
		.parent = parent,
		.kernel = flags & KERNEL_THREAD,
		.start = start,
		.used_ns = (user + system) * tick_ns,
		.reaped_ns = (reaped_user + reaped_system) * tick_ns,
	};
	snprintf(other->comm, sizeof(other->comm), "%.*s", (int)(close - open - 1), open + 1);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct other *)a)->pid, y = ((const struct other *)b)->pid;

	return (x > y) - (x < y);
}

static struct other *find(const struct others *others, pid_t pid)
{
	struct other key = {.pid = pid};

	return others->n ? bsearch(&key, others->list, others->n, sizeof(key), by_pid) : NULL;
}

/* Ours are self and everything below it. The depth is bounded: pids may be reused while we read. */
static bool descends(const struct others *others, const struct other *other, pid_t self)
{
	for (unsigned int depth = 0; other && depth < 64; depth++) {
		if (other->pid == self)
			return true;
		other = find(others, other->parent);
	}
	return false;
}

static int room_for_one(struct others *others)
{
	struct other *grown;
	size_t room;

	if (others->n < others->room)
		return 0;
	room = others->room ? 2 * others->room : 256;
	grown = reallocarray(others->list, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	others->list = grown;
	others->room = room;
	return 0;
}

static int read_list(const char *root, DIR *proc, struct others *ret)
{
	uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct dirent *entry;

	while ((entry = readdir(proc))) {
		char path[32], text[1024];

		if (!isdigit((unsigned char)entry->d_name[0]) || strlen(entry->d_name) > 10)
			continue;
		if (ret->n == OTHERS_MAX) {
			ret->cut = true;
			break;
		}
		if (room_for_one(ret) < 0)
			return -ENOMEM;
		snprintf(path, sizeof(path), "/proc/%.10s/stat", entry->d_name);
		/* A process that has just ended is no error. */
		if (procfile_text(root, path, text, sizeof(text)) > 0 &&
		    parse(text, tick_ns, &ret->list[ret->n]) == 0)
			ret->n++;
	}
	return 0;
}

int others_read(const char *root, pid_t self, struct others *ret, struct err *err)
{
	DIR *proc = procfile_opendir(root, "/proc");
	int error;

	if (!proc)
		return err_sys(err, errno ? errno : ENOENT, "cannot list '/proc'");
	ret->n = 0;
	ret->cut = false;
	ret->at_ns = now_ns();
	error = read_list(root, proc, ret);
	closedir(proc);
	if (error)
		return err_sys(err, error, "cannot remember all processes");
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_pid);
	for (size_t i = 0; i < ret->n; i++)
		ret->list[i].ours = descends(ret, &ret->list[i], self);
	return 0;
}

void others_release(struct others *others)
{
	free(others->list);
	*others = (struct others){0};
}

static struct other *survivor(const struct others *after, const struct other *old)
{
	struct other *now = find(after, old->pid);

	return now && now->start == old->start ? now : NULL;
}

/*
 * When a process ends, what it used moves on to the parent that waits for it. Of that, what it had
 * used before the window does not belong to the window: it is taken off again, from the nearest
 * ancestor that is still there, and from no more than that ancestor's children brought in.
 */
static uint64_t used_before_by_the_dead(const struct others *before, const struct others *after,
					const struct other *heir)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < before->n; i++) {
		const struct other *dead = &before->list[i], *up = dead;

		if (dead->ours || dead->kernel || survivor(after, dead))
			continue;
		for (unsigned int depth = 0; up && depth < 64; depth++) {
			up = find(before, up->parent);
			if (up && survivor(after, up))
				break;
		}
		if (up && up->pid == heir->pid)
			sum += dead->used_ns + dead->reaped_ns;
	}
	return sum;
}

static uint64_t beyond(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* What one process used between the two readings, with those of its children that ended. */
static uint64_t used_since(const struct others *before, const struct others *after,
			   const struct other *now)
{
	const struct other *then = find(before, now->pid);
	uint64_t reaped;

	if (!then || then->start != now->start)
		return now->used_ns + now->reaped_ns;
	reaped = beyond(now->reaped_ns, then->reaped_ns);
	if (reaped)
		reaped = beyond(reaped, used_before_by_the_dead(before, after, now));
	return beyond(now->used_ns, then->used_ns) + reaped;
}

void others_compare(const struct others *before, const struct others *after, struct others_use *ret)
{
	*ret = (struct others_use){.window_ns = beyond(after->at_ns, before->at_ns)};
	for (size_t i = 0; i < after->n; i++) {
		const struct other *now = &after->list[i];
		uint64_t used;

		if (now->ours)
			continue;
		used = used_since(before, after, now);
		if (now->kernel) {
			ret->kernel_ns += used;
			continue;
		}
		ret->user_ns += used;
		if (used > ret->busiest_ns) {
			ret->busiest_ns = used;
			ret->busiest_pid = now->pid;
			memcpy(ret->busiest, now->comm, sizeof(ret->busiest));
		}
	}
}
