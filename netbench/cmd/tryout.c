/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the trials of kernel features, and the children in which they take place. */
#include "cmd/tryout.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/stages.h"
#include "suite/suite.h"
#include "topo/feature.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

/* How long a trial may take before its process is killed. */
enum { TRIAL_MS = 10000 };

/* Two nodes, one link with the given queues, and an echo there and back. */
static int try_lab(uint64_t queues, struct err *err)
{
	struct node_spec nodes[2] = {{.name = (char[]){"a"}}, {.name = (char[]){"b"}}};
	struct link_spec link = {0};
	struct lab_spec spec = {.name = (char[]){"doctor"},
				.nodes = nodes,
				.n_nodes = 2,
				.links = &link,
				.n_links = 1};
	const struct lab_pair pair = {0, 1};
	struct lab *lab = NULL;
	int r;

	r = opts_default(link_opts, &link, err);
	if (r)
		return r;
	link.ends = (char[]){"a,b"};
	link.queues = queues;
	r = lab_build(&spec, &lab, err);
	if (!r)
		r = lab_reach(lab, AF_INET, &pair, 1, UINT64_C(2000000000), err);
	lab_free(lab);
	return r;
}

int try_veth(const char *words, struct err *err)
{
	(void)words;
	return try_lab(1, err);
}

int try_queues(const char *words, struct err *err)
{
	(void)words;
	return try_lab(2, err);
}

int try_enter(const char *words, struct err *err)
{
	(void)words;
	(void)err;
	return 0;
}

int try_user(const char *words, struct err *err)
{
	(void)words;
	if (unshare(CLONE_NEWUSER))
		return err_sys(err, errno, "not allowed");
	return 0;
}

/* A router with the filter in place, as `bench --filter` has it. */
int try_filter(const char *words, struct err *err)
{
	static const char text[] = "nodes: {a: , r: {forward: yes}, b: }\n"
				   "links: [{ends: [a, r]}, {ends: [r, b]}]\n";
	struct suite *suite;
	struct lab *lab = NULL;
	struct err why;
	int r;

	r = suite_parse_lab("doctor", text, strlen(text), &suite, err);
	if (r)
		return r;
	r = lab_filter_words(&suite->labs[0], words, err);
	if (!r) {
		r = filter_check(&suite->labs[0].filters[0], &why);
		if (r)
			err_set(err, r, "%s", stage_reason(&why));
	}
	if (!r)
		r = lab_build(&suite->labs[0], &lab, err);
	if (!r)
		r = lab_filter(lab, err);
	lab_free(lab);
	suite_free(suite);
	return r;
}

int try_wireguard(const char *words, struct err *err)
{
	(void)words;
	return feature_link("wireguard", err);
}

int try_tun(const char *words, struct err *err)
{
	(void)words;
	return feature_tun(err);
}

int try_live_frames(const char *words, struct err *err)
{
	(void)words;
	return feature_live_frames(err);
}

/* In memory shared with the child, which may die at any point. */
struct trial_report {
	int r;
	struct err err;
};

static void child(int (*trial)(const char *words, struct err *err), const char *words, pid_t parent,
		  struct trial_report *report)
{
	struct err err = {0};
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	r = feature_enter(&err);
	if (!r)
		r = trial(words, &err);
	report->err = err;
	report->r = r;
	_exit(0);
}

/* True when the child ended by the deadline. It is reaped in any case. */
static bool wait_child(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};
	bool over = true;

	if (pidfd >= 0) {
		over = poll(&fd, 1, TRIAL_MS) > 0;
		if (!over)
			kill(pid, SIGKILL);
		close(pidfd);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return over;
}

int tryout(int (*trial)(const char *words, struct err *err), const char *words, struct err *err)
{
	struct trial_report *report;
	pid_t parent = getpid(), pid;
	bool over;
	int r;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED)
		return err_sys(err, errno, "not tried");
	*report = (struct trial_report){.r = -ECHILD, .err = {"the trial crashed"}};
	pid = fork();
	if (!pid)
		child(trial, words, parent, report);
	r = errno;
	over = pid > 0 && wait_child(pid);
	if (pid < 0)
		r = err_sys(err, r, "not tried");
	else if (!over)
		r = err_set(err, ETIMEDOUT, "no answer within %d s", TRIAL_MS / 1000);
	else
		r = report->r;
	if (over)
		*err = report->err;
	munmap(report, sizeof(*report));
	return r;
}
