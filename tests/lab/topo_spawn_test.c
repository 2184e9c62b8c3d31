/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests programs started in nodes: where they run, what they inherit, how they end. */
#include "tests/lab/topo_lab.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "topo/spawn.h"

static const uint64_t second_ns = UINT64_C(1000000000);

/* What a shell command prints, run in a namespace (-1: here). */
static char *output_of(int netns, const char *command, int *ret_status)
{
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	struct child child;
	struct err err = {""};
	int out[2];
	char *text = calloc(1, 65536);
	size_t len = 0;
	ssize_t n;

	assert_non_null(text);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	if (child_start(&(struct spawn){argv, netns, -1, out[1], out[1]}, &child, &err))
		fail_msg("%s", err.text);
	close(out[1]);
	while ((n = read(out[0], text + len, 65535 - len)) > 0)
		len += (size_t)n;
	close(out[0]);
	assert_int_equal(child_wait(&child, 10 * second_ns, ret_status, &err), 0);
	assert_int_equal(child.pid, 0);
	return text;
}

static void test_runs_in_its_node(void **state)
{
	struct lab_spec spec = spec_of("a b", "a:left,b:right");
	struct lab *lab;
	int status;
	char *text;

	(void)state;
	NEED_ROOT();
	lab = build_ok(&spec);
	text = output_of(lab_netns(lab, 1), "cat /proc/net/dev; exit 3", &status);
	assert_non_null(strstr(text, "right:"));
	assert_null(strstr(text, "left:"));
	assert_int_equal(WEXITSTATUS(status), 3);
	free(text);
	lab_free(lab);
}

static void test_inherits_three_descriptors(void **state)
{
	int leak = open("/dev/null", O_RDONLY), status;
	sigset_t all;
	char *text;

	(void)state;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* Under make, glibc's own signals 32 and 33 are ignored: its posix_spawn leaves them so. */
	text = output_of(-1,
			 "ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign)' /proc/self/status | "
			 "sed '/SigIgn/s/0000000180000000/0000000000000000/'",
			 &status);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_DFL);
	close(leak);
	/* The fourth is the directory that ls reads. */
	assert_string_equal(text, "4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	free(text);
}

static void test_cannot_start(void **state)
{
	char *argv[] = {"/nonexistent/program", NULL};
	struct child child = {0};
	struct err err;

	(void)state;
	assert_int_equal(child_start(&(struct spawn){argv, -1, -1, -1, -1}, &child, &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot start '/nonexistent/program': No such file or directory");
	assert_int_equal(child.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	child_stop(&child, 0);
}

static void test_deadline_and_stop(void **state)
{
	char *sleeper[] = {"sleep", "1000", NULL};
	char *stubborn[] = {"sh", "-c", "trap '' TERM; echo; read -r never <&2", NULL};
	struct child child;
	struct err err;
	int out[2], never[2];
	char byte;

	(void)state;
	assert_int_equal(child_start(&(struct spawn){sleeper, -1, -1, -1, -1}, &child, &err), 0);
	assert_int_equal(child_wait(&child, 1000000, NULL, &err), -ETIMEDOUT);
	assert_true(child.pid > 0);
	child_stop(&child, 60 * second_ns);
	assert_int_equal(child.pid, 0);

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(never, O_CLOEXEC), 0);
	assert_int_equal(
		child_start(&(struct spawn){stubborn, -1, -1, out[1], never[0]}, &child, &err), 0);
	assert_int_equal(read(out[0], &byte, 1), 1);
	child_stop(&child, 1000000);
	assert_int_equal(child.pid, 0);
	close(out[0]);
	close(out[1]);
	close(never[0]);
	close(never[1]);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_dies_with_its_parent(void **state)
{
	char *argv[] = {"sleep", "1000", NULL};
	struct pollfd poll_fd = {.events = POLLIN};
	struct child child;
	struct err err;
	int pids[2];
	pid_t parent, pid;

	(void)state;
	assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
	parent = fork();
	if (!parent) {
		if (child_start(&(struct spawn){argv, -1, -1, -1, -1}, &child, &err) ||
		    write(pids[1], &child.pid, sizeof(pid_t)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pids[0], &pid, sizeof(pid)), sizeof(pid));
	poll_fd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(poll_fd.fd >= 0);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_int_equal(kill(parent, SIGKILL), 0);
	assert_int_equal(poll(&poll_fd, 1, 10000), 1);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	close(poll_fd.fd);
	close(pids[0]);
	close(pids[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_in_its_node),
		cmocka_unit_test(test_inherits_three_descriptors),
		cmocka_unit_test(test_cannot_start),
		cmocka_unit_test(test_deadline_and_stop),
		cmocka_unit_test(test_dies_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
