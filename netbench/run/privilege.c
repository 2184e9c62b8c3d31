/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the question whether this process may build labs, and the way into a user namespace. */
#include "run/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/feature.h"

#define PROBE_MS 5000

struct answer {
	int code;
	bool plain; /* no user namespace was needed */
	struct err err;
};

/* In a child: whatever is made here goes with it. */
static void probe(int fd)
{
	struct answer answer = {0};
	char before[64] = "", after[64] = "";
	const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (readlink("/proc/self/ns/user", before, sizeof(before) - 1) < 0)
		before[0] = '\0';
	answer.code = feature_enter(&answer.err);
	if (!answer.code)
		answer.code = feature_link("veth", &answer.err);
	if (readlink("/proc/self/ns/user", after, sizeof(after) - 1) < 0)
		after[0] = '\0';
	/* Root in a user namespace may leave a network namespace of the host, but not come back. */
	answer.plain = !strcmp(before, after) && !setns(home, CLONE_NEWNET);
	_exit(write(fd, &answer, sizeof(answer)) == sizeof(answer) ? 0 : 1);
}

static int ask_child(struct answer *ret, struct err *err)
{
	struct pollfd pollfd = {.events = POLLIN};
	ssize_t n = -1;
	int fds[2], code;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	pid = fork();
	if (!pid)
		probe(fds[1]);
	code = errno;
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_sys(err, code, "cannot start a process");
	}
	pollfd.fd = fds[0];
	if (poll(&pollfd, 1, PROBE_MS) > 0)
		n = read(fds[0], ret, sizeof(*ret));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	return n == (ssize_t)sizeof(*ret)
		       ? 0
		       : err_set(err, EIO, "cannot find out what this process may do");
}

int privilege_gain(bool *ret_userns, struct err *err)
{
	struct answer answer;
	int r;

	*ret_userns = false;
	r = ask_child(&answer, err);
	if (r)
		return r;
	if (answer.code)
		return err_set(err, EPERM,
			       "labs need root or user namespaces with networking (%s); run it "
			       "with sudo, or see: netbench doctor",
			       answer.err.text);
	if (answer.plain)
		return 0;
	*ret_userns = true;
	return feature_enter(err);
}
