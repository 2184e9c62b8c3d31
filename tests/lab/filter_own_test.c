/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the user's own BPF objects: attached when they are good, refused in one line when not. */
#include "tests/lab/filter_lab.h"

#include <fnmatch.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PACKETS = 5 };

extern char **environ;

static char dir[] = "/tmp/netbench-own-XXXXXX";

/* Compile the test's object with one flag; the path is dir/FLAG.o, under /tmp. */
static void compile(const char *flag, char *path, size_t len)
{
	char *argv[] = {"clang",      "-target", "bpf",
			"-O2",	      "-g",	 "-c",
			"-o",	      path,	 "tests/data/own.bpf.c",
			(char *)flag, NULL};
	int status;
	pid_t pid;

	snprintf(path, len, "%s/%s.o", dir, flag + 2);
	assert_int_equal(posix_spawnp(&pid, "clang", NULL, NULL, argv, environ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static char plain[64], two[64], bad[64], text[64];

static int prepare(void **state)
{
	FILE *file;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	compile("-DPLAIN", plain, sizeof(plain));
	compile("-DTWO", two, sizeof(two));
	compile("-DBAD", bad, sizeof(bad));
	snprintf(text, sizeof(text), "%s/text.o", dir);
	file = fopen(text, "w");
	if (!file)
		return -1;
	fputs("not an object\n", file);
	return fclose(file);
}

static int remove_all(void **state)
{
	(void)state;
	return unlink(plain) | unlink(two) | unlink(bad) | unlink(text) | rmdir(dir);
}

/* IPv4 ends in the user's program (drops says so), IPv6 passes; nobody claims to have counted. */
static void packets_through(const char *options, bool drops6)
{
	struct lab *lab = filter_lab(options, "a,b");
	int fd = receiver(lab);

	send_packets(lab, AF_INET, LAB_TEST_PORT, PACKETS);
	send_packets(lab, AF_INET6, LAB_TEST_PORT, PACKETS);
	receive_packets(fd, drops6 ? 0 : PACKETS, options);
	assert_int_equal(counters_of(lab).matched, 0);
	assert_int_equal(counters_of(lab).dropped, 0);
	assert_false(counters_of(lab).exact);
	assert_int_not_equal(access("/sys/fs/bpf/own_pinned", F_OK), 0);
	close(fd);
	lab_free(lab);
}

static void test_attached(void **state)
{
	static const char *const stages[] = {"xdp", "xdp-generic", "tc-bpf", "tcx"};
	char options[256];

	(void)state;
	NEED_ROOT();
	for (size_t s = 0; s < 4; s++) {
		if (!kernel_has(stages[s]))
			continue;
		snprintf(options, sizeof(options), "stage=%s object=%s", stages[s], plain);
		packets_through(options, s >= 2);
	}
	snprintf(options, sizeof(options), "stage=xdp object=%s program=own_drop", two);
	packets_through(options, false);
}

static void refused(const char *stage, const char *path, const char *program, const char *format)
{
	struct filter_spec spec = filter_spec_of("rules=1");
	struct err err = {""}, ignored;
	char want[512];
	int r;

	assert_int_equal(opt_set(opts_find(filter_opts, "stage"), &spec, stage, &ignored), 0);
	spec.object = strdup(path);
	spec.program = program ? strdup(program) : NULL;
	snprintf(want, sizeof(want), format, path);
	r = filter_check(&spec, &err);
	/* What the verifier and libbpf say differs between versions: "*" is any one line. */
	if (r != -EINVAL || fnmatch(want, err.text, 0) || strchr(err.text, '\n'))
		fail_msg("%d, \"%s\", not \"%s\"", r, err.text, want);
	filter_spec_release(&spec);
}

/* clang-format off */
static void test_refused(void **state)
{
	(void)state;
	NEED_ROOT();
	refused("xdp", bad, "own_bad",
		"filter 'xdp': %s: program 'own_bad': *packet*");
	refused("tc-bpf", plain, "own_drop",
		"filter 'tc-bpf': %s: program 'own_drop': is of type xdp, stage tc-bpf needs sched_cls, such as 'own_shot'");
	refused("xdp", plain, "nothing",
		"filter 'xdp': %s: no program 'nothing'; there is 'own_drop' (xdp), 'own_shot' (sched_cls)");
	refused("xdp", two, NULL,
		"filter 'xdp': %s: 2 programs for stage xdp: 'own_drop', 'own_pass'; choose with 'program'");
	refused("xdp", text, NULL, "filter 'xdp': %s: not a BPF object: *");
}
/* clang-format on */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attached),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("own BPF objects", tests, prepare, remove_all);
}
