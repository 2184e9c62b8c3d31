/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns child programs: started in a node, bound to their parent, awaited with a deadline. */
#include "topo/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"

/* First out of the way of 0, 1 and 2, so that no source is overwritten before it is used. */
static int set_streams(const struct spawn *spawn)
{
	int from[3] = {spawn->in, spawn->out, spawn->err}, i;

	for (i = 0; i < 3; i++) {
		if (from[i] < 0)
			from[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (from[i] < 0)
			return -1;
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3);
		if (from[i] < 0)
			return -1;
	}
	for (i = 0; i < 3; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	return 0;
}

/* Between fork and exec: system calls only, since other threads may hold any lock. */
static _Noreturn void become(const struct spawn *spawn, pid_t parent, int report)
{
	sigset_t none;
	int code;

	/* If the parent died before prctl, nobody would tell us. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (spawn->netns < 0 || !setns(spawn->netns, CLONE_NEWNET)) {
		/* Whatever this process itself inherited without close-on-exec (fails before 5.11). */
		close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
		if (!set_streams(spawn))
			execvp(spawn->argv[0], spawn->argv);
	}
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* The pipe closes by itself when the program is executed. */
static int await_exec(int report)
{
	ssize_t len;
	int code;

	do
		len = read(report, &code, sizeof(code));
	while (len < 0 && errno == EINTR);
	return len == sizeof(code) ? -code : 0;
}

int child_start(const struct spawn *spawn, struct child *ret, struct err *err)
{
	pid_t parent = getpid(), pid;
	int report[2], pidfd, rc;

	if (pipe2(report, O_CLOEXEC))
		return err_sys(err, errno, "cannot start '%s'", spawn->argv[0]);
	pid = fork();
	if (!pid) {
		/* A report pipe among the standard streams would be closed by them. */
		int high = fcntl(report[1], F_DUPFD_CLOEXEC, 3);

		become(spawn, parent, high < 0 ? report[1] : high);
	}
	rc = pid < 0 ? -errno : 0;
	close(report[1]);
	if (!rc)
		rc = await_exec(report[0]);
	close(report[0]);
	pidfd = rc ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (!rc && pidfd < 0)
		rc = -errno;
	if (rc) {
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		return err_sys(err, -rc, "cannot start '%s'", spawn->argv[0]);
	}
	fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	*ret = (struct child){.pid = pid, .pidfd = pidfd};
	return 0;
}

static int reap(struct child *child, struct err *err)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(child->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	close(child->pidfd);
	*child = (struct child){0};
	return pid < 0 ? err_sys(err, errno, "cannot wait for a child process") : status;
}

int child_wait(struct child *child, uint64_t timeout_ns, int *ret_status, struct err *err)
{
	struct pollfd poll_fd = {.fd = child->pidfd, .events = POLLIN};
	uint64_t start = now_ns(), past, left;
	struct timespec ts;
	int rc;

	do {
		past = now_ns() - start;
		left = timeout_ns > past ? timeout_ns - past : 0;
		ts.tv_sec = (time_t)(left / UINT64_C(1000000000));
		ts.tv_nsec = (long)(left % UINT64_C(1000000000));
		rc = ppoll(&poll_fd, 1, timeout_ns == UINT64_MAX ? NULL : &ts, NULL);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return err_sys(err, errno, "cannot wait for a child process");
	if (!rc)
		return err_set(err, ETIMEDOUT, "process %d still runs after %.3g s",
			       (int)child->pid, (double)timeout_ns / 1e9);
	rc = reap(child, err);
	if (rc < 0)
		return rc;
	if (ret_status)
		*ret_status = rc;
	return 0;
}

void child_stop(struct child *child, uint64_t grace_ns)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGTERM);
	if (!child_wait(child, grace_ns, NULL, NULL))
		return;
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	reap(child, NULL);
}
