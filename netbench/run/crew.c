/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the worker processes of a trial: their birth, their barrier and their end. */
#include "run/crew.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load/lane.h"
#include "topo/lab.h"

#define STOP_GRACE_NS UINT64_C(500000000)

enum { POLL_INTERRUPT, POLL_EXTRA, POLL_FIRST_WORKER };

/* SIGTERM only ends a system call: the clock says whether to stop. */
static void heard(int signal)
{
	(void)signal;
}

static void run_lane(struct lane *lane, struct lab *lab, pid_t parent)
{
	const struct sigaction hear = {.sa_handler = heard};
	struct lane_shared *shared = lane->shared;
	struct err err = {0};
	cpu_set_t set;
	int r = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN); /* the runner decides what an interrupt means */
	sigaction(SIGTERM, &hear, NULL);
	CPU_ZERO(&set);
	CPU_SET(lane->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		r = err_sys(&err, errno, "cannot pin to CPU %d", lane->cpu);
	if (!r)
		r = lab_enter(lab, lane->node, &err);
	if (!r)
		r = lane->work(lane, &err);
	if (r && r != -ECANCELED) {
		shared->err = err;
		atomic_store_explicit(&shared->failed, 1, memory_order_release);
		_exit(1);
	}
	atomic_store_explicit(&shared->done, 1, memory_order_release);
	_exit(0);
}

static int start_worker(struct worker *worker, struct lane *lane, struct lab *lab, struct err *err)
{
	const pid_t parent = getpid();

	worker->lane = lane;
	worker->pidfd = -1;
	worker->pid = fork();
	if (worker->pid < 0)
		return err_sys(err, errno, "cannot start a worker");
	if (!worker->pid)
		run_lane(lane, lab, parent);
	worker->pidfd = (int)syscall(SYS_pidfd_open, worker->pid, 0);
	if (worker->pidfd < 0) {
		int code = errno;

		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0);
		worker->pid = -1;
		return err_sys(err, code, "cannot watch a worker");
	}
	return 0;
}

int crew_start(struct crew *crew, struct lab *lab, struct load_run *runs, size_t n_runs,
	       struct trial_clock *clock, int interrupt_fd, struct err *err)
{
	size_t n = 0;
	int r = 0;

	memset(crew, 0, sizeof(*crew));
	crew->clock = clock;
	crew->interrupt_fd = interrupt_fd;
	for (size_t i = 0; i < n_runs; i++)
		n += runs[i].n_lanes;
	crew->workers = calloc(n, sizeof(*crew->workers));
	crew->fds = calloc(POLL_FIRST_WORKER + n, sizeof(*crew->fds));
	if (!crew->workers || !crew->fds)
		return err_sys(err, ENOMEM, "cannot allocate %zu workers", n);
	for (size_t i = 0; !r && i < n_runs; i++)
		for (size_t k = 0; !r && k < runs[i].n_lanes; k++) {
			r = start_worker(&crew->workers[crew->n], &runs[i].lanes[k], lab, err);
			crew->n += crew->workers[crew->n].pid > 0;
		}
	if (r)
		crew_release(crew);
	return r;
}

/* What a worker that has ended says; 0 when all is well. */
static int verdict(const struct worker *worker, int status, struct err *err)
{
	const struct lane *lane = worker->lane;

	if (atomic_load_explicit(&lane->shared->failed, memory_order_acquire))
		return err_set(err, EIO, "%s %s: %s", lane->run->load->kind.name, lane->role,
			       lane->shared->err.text);
	if (WIFSIGNALED(status))
		return err_set(err, EIO, "%s %s was killed by signal %d",
			       lane->run->load->kind.name, lane->role, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(err, EIO, "%s %s ended early", lane->run->load->kind.name,
			       lane->role);
	return 0;
}

static int reap_worker(struct worker *worker, struct err *err)
{
	int status;

	if (waitpid(worker->pid, &status, WNOHANG) != worker->pid)
		return 0;
	close(worker->pidfd);
	worker->pidfd = -1;
	return verdict(worker, status, err);
}

static size_t alive(const struct crew *crew)
{
	size_t n = 0;

	for (size_t i = 0; i < crew->n; i++)
		n += crew->workers[i].pidfd >= 0;
	return n;
}

/*
 * One wait for an interrupt, an extra fd, the end of any worker, or the time. Returns 0 (look again),
 * -ETIMEDOUT, -ECANCELED, or the error of a worker. However late, it looks once: after a runner was
 * stopped and continued, its workers have long ended.
 */
static int wait_once(struct crew *crew, int extra_fd, uint64_t when_ns, struct err *err)
{
	struct pollfd *fds = crew->fds;
	const uint64_t now = now_ns();
	const uint64_t left_ns = when_ns > now ? when_ns - now : 0;
	const struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000u),
				      .tv_nsec = (long)(left_ns % 1000000000u)};
	int ready, r = 0;

	fds[POLL_INTERRUPT] = (struct pollfd){.fd = crew->interrupt_fd, .events = POLLIN};
	fds[POLL_EXTRA] = (struct pollfd){.fd = extra_fd, .events = POLLIN};
	for (size_t i = 0; i < crew->n; i++)
		fds[POLL_FIRST_WORKER + i] =
			(struct pollfd){.fd = crew->workers[i].pidfd, .events = POLLIN};
	ready = ppoll(fds, POLL_FIRST_WORKER + crew->n, &left, NULL);
	if (ready < 0)
		return errno == EINTR ? 0 : err_sys(err, errno, "cannot wait for the workers");
	if (!ready)
		return -ETIMEDOUT;
	if (fds[POLL_INTERRUPT].revents)
		return err_set(err, ECANCELED, "interrupted");
	for (size_t i = 0; !r && i < crew->n; i++)
		if (fds[POLL_FIRST_WORKER + i].revents)
			r = reap_worker(&crew->workers[i], err);
	return r;
}

int crew_await_ready(struct crew *crew, uint64_t deadline_ns, struct err *err)
{
	uint64_t ready = 0, more;
	int r = 0;

	while (!r && ready < crew->n) {
		r = wait_once(crew, crew->clock->ready_fd, deadline_ns, err);
		if (!r && read(crew->clock->ready_fd, &more, sizeof(more)) == sizeof(more))
			ready += more;
		if (!r && alive(crew) < crew->n)
			r = err_set(err, EIO, "a worker ended before the start");
	}
	if (r == -ETIMEDOUT)
		err_set(err, ETIMEDOUT, "%zu of %zu workers were not ready in time",
			crew->n - (size_t)ready, crew->n);
	return r;
}

void crew_go(struct crew *crew)
{
	atomic_store_explicit(&crew->clock->go, 1, memory_order_release);
	syscall(SYS_futex, &crew->clock->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int crew_watch(struct crew *crew, uint64_t when_ns, struct err *err)
{
	int r;

	do
		r = wait_once(crew, -1, when_ns, err);
	while (!r);
	return r == -ETIMEDOUT ? 0 : r;
}

int crew_reap(struct crew *crew, uint64_t deadline_ns, struct err *err)
{
	int r = 0;

	while (!r && alive(crew))
		r = wait_once(crew, -1, deadline_ns, err);
	if (r == -ETIMEDOUT)
		err_set(err, ETIMEDOUT, "%zu workers did not end in time", alive(crew));
	return r;
}

void crew_release(struct crew *crew)
{
	struct err ignored;

	if (crew->workers && alive(crew)) {
		crew->interrupt_fd = -1;
		atomic_store(&crew->clock->stop, 1);
		atomic_store(&crew->clock->go, 2);
		syscall(SYS_futex, &crew->clock->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		for (size_t i = 0; i < crew->n; i++)
			if (crew->workers[i].pidfd >= 0)
				kill(crew->workers[i].pid, SIGTERM);
		for (uint64_t until = now_ns() + STOP_GRACE_NS; alive(crew);)
			if (wait_once(crew, -1, until, &ignored) == -ETIMEDOUT)
				break;
	}
	for (size_t i = 0; i < crew->n; i++) {
		struct worker *worker = &crew->workers[i];

		if (worker->pidfd < 0)
			continue;
		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0);
		close(worker->pidfd);
	}
	free(crew->workers);
	free(crew->fds);
	memset(crew, 0, sizeof(*crew));
}
