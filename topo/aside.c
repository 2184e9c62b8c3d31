/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns functions that run in a child process of their own. */
#include "topo/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/spawn.h"

/* In memory shared with the child, which may die at any point. */
struct report {
	int r;
	struct err err;
};

/* Never returns into the parent's code: no exit handler, no leak check. */
static _Noreturn void work(int (*fn)(const void *arg, struct err *err), const void *arg,
			   pid_t parent, struct report *report)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err err = {""};
	int r;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	/* Libraries may print before they give up. */
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	r = fn(arg, &err);
	report->err = err;
	report->r = r;
	_exit(0);
}

static int await(pid_t pid, uint64_t timeout_ns, struct err *err)
{
	struct child child = {.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
	int r;

	if (child.pidfd < 0) {
		r = err_sys(err, errno, "cannot watch a child process");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return r;
	}
	r = child_wait(&child, timeout_ns, NULL, err);
	if (r == -ETIMEDOUT)
		err_set(err, ETIMEDOUT, "no answer within %.3g s", (double)timeout_ns / 1e9);
	child_stop(&child, 0);
	return r;
}

int aside_run(int (*fn)(const void *arg, struct err *err), const void *arg, uint64_t timeout_ns,
	      struct err *err)
{
	struct report *report;
	pid_t parent = getpid(), pid;
	int r;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED)
		return err_sys(err, errno, "cannot share memory with a child process");
	*report = (struct report){.r = -ECHILD, .err = {"the child process crashed"}};
	pid = fork();
	if (!pid)
		work(fn, arg, parent, report);
	r = pid < 0 ? err_sys(err, errno, "cannot start a child process")
		    : await(pid, timeout_ns, err);
	if (!r) {
		r = report->r;
		if (r && err)
			*err = report->err;
	}
	munmap(report, sizeof(*report));
	return r;
}
