/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests named labs, in a private /run, so that the host's own is never touched. */
#include "tests/lab/topo_lab.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "topo/pin.h"

static int private_run(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("tmpfs", "/run", "tmpfs", 0, NULL);
}

static struct lab *routed(void)
{
	struct lab_spec spec =
		spec_of("a r! b", "a,r net=10.0.0.0/24 offloads=tx; r,b:wan mtu=1000 queues=2");

	return build_ok(&spec);
}

static void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static void pin_ok(const char *name)
{
	struct lab *lab = routed();
	struct err err = {""};

	if (lab_pin(lab, name, &err))
		fail_msg("%s", err.text);
	lab_free(lab);
}

static void unpin_ok(const char *name, bool there)
{
	struct err err = {""};
	bool removed;

	if (lab_unpin(name, &removed, &err))
		fail_msg("%s", err.text);
	assert_int_equal(removed, there);
}

static void test_up_and_down(void **state)
{
	char *before, *after;

	(void)state;
	NEED_ROOT();
	before = inventory();
	pin_ok("one");
	assert_int_equal(access("/run/netns/one.r", F_OK), 0);
	unpin_ok("one", true);
	after = inventory();
	assert_string_equal(after, before);
	free(before);
	free(after);
	/* Down again is fine. */
	unpin_ok("one", false);
}

static void test_existing_names_are_left_alone(void **state)
{
	struct lab *lab;
	struct err err;
	char *before, *after;

	(void)state;
	NEED_ROOT();
	pin_ok("one");
	lab = routed();
	before = inventory();
	assert_int_equal(lab_pin(lab, "one", &err), -EEXIST);
	assert_string_equal(err.text, "lab 'one' is up already");
	assert_int_equal(lab_pin_check("one", &err), -EEXIST);
	assert_int_equal(lab_pin_check("two", &err), 0);
	touch("/run/netns/two.b");
	assert_int_equal(lab_pin(lab, "two", &err), -EEXIST);
	assert_string_equal(err.text, "'/run/netns/two.b' exists already");
	assert_int_equal(unlink("/run/netns/two.b"), 0);
	assert_int_equal(lab_pin(lab, "../x", &err), -EINVAL);
	assert_int_equal(lab_pin(lab, "", &err), -EINVAL);
	assert_int_equal(lab_unpin("../x", NULL, &err), -EINVAL);
	after = inventory();
	assert_string_equal(after, before);
	free(before);
	free(after);
	lab_free(lab);
	unpin_ok("one", true);
}

/* The directory exists and is somebody else's: it stays. */
static void test_foreign_directory_stays(void **state)
{
	(void)state;
	NEED_ROOT();
	assert_int_equal(mkdir("/run/netns", 0755), 0);
	touch("/run/netns/other");
	pin_ok("one");
	unpin_ok("one", true);
	assert_int_equal(unlink("/run/netns/other"), 0);
	assert_int_equal(rmdir("/run/netns"), 0);
}

/* The last mount fails: what was mounted before is taken down again. */
static void test_half_way_is_undone(void **state)
{
	struct lab *lab;
	struct err err;
	char *before, *after;

	(void)state;
	NEED_ROOT();
	lab = routed();
	before = inventory();
	/* Node b's descriptor is no namespace any more but a directory, which no file can hold. */
	assert_true(dup3(open("/run", O_RDONLY | O_CLOEXEC | O_DIRECTORY), lab_netns(lab, 2),
			 O_CLOEXEC) >= 0);
	assert_int_equal(lab_pin(lab, "one", &err), -ENOTDIR);
	assert_string_equal(err.text,
			    "cannot mount node 'b' at '/run/netns/one.b': Not a directory");
	assert_int_equal(access("/run/netns", F_OK), -1);
	assert_int_equal(access("/run/netbench", F_OK), -1);
	lab_free(lab);
	after = inventory();
	assert_non_null(strstr(after, "/run/netns: -1"));
	free(before);
	free(after);
}

/* As after a SIGKILL in the middle of up: one node mounted, one an empty file, one missing. */
static void test_down_after_a_killed_up(void **state)
{
	struct pinned_lab *labs;
	struct err err;
	size_t n;

	(void)state;
	NEED_ROOT();
	pin_ok("one");
	assert_int_equal(umount2("/run/netns/one.r", MNT_DETACH), 0);
	assert_int_equal(umount2("/run/netns/one.b", MNT_DETACH), 0);
	assert_int_equal(unlink("/run/netns/one.b"), 0);
	assert_int_equal(lab_pinned_list(&labs, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_false(labs[0].whole);
	lab_pinned_free(labs, n);
	unpin_ok("one", true);
	assert_int_equal(access("/run/netns", F_OK), -1);
	assert_int_equal(access("/run/netbench", F_OK), -1);
}

/* A namespace that took the place of ours is not ours to remove. */
static void test_down_spares_strangers(void **state)
{
	struct err err;

	(void)state;
	NEED_ROOT();
	pin_ok("one");
	assert_int_equal(umount2("/run/netns/one.r", MNT_DETACH), 0);
	assert_int_equal(mount("/proc/self/ns/net", "/run/netns/one.r", NULL, MS_BIND, NULL), 0);
	assert_int_equal(lab_pinned_enter("one", "r", &err), -ESTALE);
	unpin_ok("one", true);
	assert_int_equal(umount2("/run/netns/one.r", 0), 0);
	assert_int_equal(unlink("/run/netns/one.r"), 0);
	assert_int_equal(rmdir("/run/netns"), 0);
	/* The note that /run/netns was ours waits for the next down. */
	pin_ok("two");
	unpin_ok("two", true);
	assert_int_equal(access("/run/netbench", F_OK), -1);
}

static void test_list(void **state)
{
	struct pinned_lab *labs = NULL;
	struct lab_plan *plan;
	struct err err;
	size_t n = 9;

	(void)state;
	NEED_ROOT();
	assert_int_equal(lab_pinned_list(&labs, &n, &err), 0);
	assert_int_equal(n, 0);
	lab_pinned_free(labs, n);
	pin_ok("two");
	pin_ok("one");
	assert_int_equal(lab_pinned_list(&labs, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(labs[0].name, "one");
	assert_string_equal(labs[1].name, "two");
	assert_true(labs[0].whole);
	assert_int_equal(labs[0].spec.n_nodes, 3);
	assert_true(labs[0].spec.nodes[1].forward);
	assert_string_equal(labs[0].spec.links[0].net, "10.0.0.0/24");
	assert_int_equal(labs[0].spec.links[0].offloads, 1);
	assert_string_equal(labs[0].spec.links[1].ends, "r:eth1,b:wan");
	assert_null(labs[0].spec.links[1].net6);
	assert_int_equal(labs[0].spec.links[1].mtu, 1000);
	assert_int_equal(labs[0].spec.links[1].queues, 2);
	assert_int_equal(lab_plan_make(&labs[0].spec, &plan, &err), 0);
	assert_int_equal(lab_plan_wire(plan, 1)->end[0].addr.s_addr, htonl(0xc6120001));
	lab_plan_free(plan);
	lab_pinned_free(labs, n);
	unpin_ok("two", true);
	unpin_ok("one", true);
}

static int enter_and_look(void)
{
	char *text;
	struct err err;

	if (lab_pinned_enter("one", "b", &err))
		return 1;
	text = inventory();
	return strstr(text, "wan\n") ? 0 : 2;
}

static void test_enter(void **state)
{
	struct err err;
	int status;
	pid_t pid;

	(void)state;
	NEED_ROOT();
	pin_ok("one");
	assert_int_equal(lab_pinned_enter("noe", "a", &err), -ENOENT);
	assert_string_equal(err.text, "no lab 'noe' is up; did you mean 'one'");
	assert_int_equal(lab_pinned_enter("one", "q", &err), -ENOENT);
	assert_string_equal(err.text, "lab 'one': no node 'q'");
	pid = fork();
	if (!pid)
		_exit(enter_and_look());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unpin_ok("one", true);
}

static void test_damaged_state(void **state)
{
	struct pinned_lab *labs;
	struct err err;
	size_t n;

	(void)state;
	NEED_ROOT();
	assert_int_equal(mkdir("/run/netbench", 0755), 0);
	touch("/run/netbench/one");
	assert_int_equal(lab_unpin("one", NULL, &err), -EINVAL);
	assert_string_equal(err.text,
			    "'/run/netbench/one' is damaged, or of another version of netbench");
	assert_int_equal(lab_pinned_list(&labs, &n, &err), -EINVAL);
	assert_int_equal(unlink("/run/netbench/one"), 0);
	assert_int_equal(rmdir("/run/netbench"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_up_and_down),
		cmocka_unit_test(test_existing_names_are_left_alone),
		cmocka_unit_test(test_foreign_directory_stays),
		cmocka_unit_test(test_half_way_is_undone),
		cmocka_unit_test(test_down_after_a_killed_up),
		cmocka_unit_test(test_down_spares_strangers),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_enter),
		cmocka_unit_test(test_damaged_state),
	};

	return cmocka_run_group_tests(tests, private_run, NULL);
}
