/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Result files: whole or absent, in the caller's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/output.h"

/* Every test works in an empty folder of its own. */
static int enter_folder(void **state)
{
	char *dir = strdup("/tmp/netbench-output-XXXXXX");

	*state = dir;
	return dir && mkdtemp(dir) ? chdir(dir) : -1;
}

static int leave_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return chdir("/") || system(command);
}

static unsigned int entries(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return n;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
	char buf[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	buf[fread(buf, 1, sizeof(buf) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(buf, text);
}

static void write_output(const char *path, const char *text)
{
	struct err err;
	FILE *file;

	assert_int_equal(output_open(path, &file, &err), 0);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(output_commit(file, path, &err), 0);
}

static void test_no_name_before_commit(void **state)
{
	struct err err;
	struct stat st;
	FILE *file;

	(void)state;
	assert_int_equal(output_open("result", &file, &err), 0);
	assert_int_equal(fstat(fileno(file), &st), 0);
	assert_true(fputs("half", file) >= 0);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(access("result", F_OK), -1);
	/* A filesystem without O_TMPFILE has the temporary name, and only that. */
	assert_int_equal(entries(), st.st_nlink);
	assert_int_equal(output_commit(file, "result", &err), 0);
	assert_int_equal(entries(), 1);
	assert_holds("result", "half");
}

static void test_replaces_as_a_whole(void **state)
{
	struct err err;
	FILE *file;

	(void)state;
	put("result", "old and long");
	assert_int_equal(output_open("result", &file, &err), 0);
	assert_true(fputs("new", file) >= 0);
	assert_holds("result", "old and long");
	assert_int_equal(output_commit(file, "result", &err), 0);
	assert_holds("result", "new");
	assert_int_equal(entries(), 1);
}

static void test_abandon(void **state)
{
	struct err err;
	FILE *file;

	(void)state;
	assert_int_equal(output_open("result", &file, &err), 0);
	assert_true(fputs("half", file) >= 0);
	output_abandon(file, "result");
	output_abandon(NULL, "result");
	assert_int_equal(entries(), 0);
}

static void test_follows_links(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("deep", 0755), 0);
	put("deep/real", "old");
	assert_int_equal(symlink("deep/real", "link"), 0);
	write_output("link", "new");
	assert_holds("deep/real", "new");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void test_umask(void **state)
{
	mode_t old = umask(027);
	struct stat st;

	(void)state;
	write_output("result", "x");
	umask(old);
	assert_int_equal(stat("result", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_pipe(void **state)
{
	char buf[8] = "";
	int fd;

	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	fd = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	write_output("pipe", "x");
	assert_int_equal(read(fd, buf, sizeof(buf)), 1);
	close(fd);
	assert_int_equal(entries(), 1);
}

static void test_stdout(void **state)
{
	struct err err;
	FILE *file;

	(void)state;
	assert_int_equal(output_open("-", &file, &err), 0);
	assert_ptr_equal(file, stdout);
	assert_int_equal(output_commit(file, "-", &err), 0);
	assert_int_equal(entries(), 0);
}

static void test_full_disk(void **state)
{
	struct err err;
	FILE *file;

	(void)state;
	if (access("/dev/full", W_OK)) {
		print_message("no /dev/full\n");
		skip();
	}
	assert_int_equal(output_open("/dev/full", &file, &err), 0);
	assert_true(fputs("x", file) >= 0);
	assert_int_equal(output_commit(file, "/dev/full", &err), -ENOSPC);
	assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
}

static void test_nowhere(void **state)
{
	struct err err;
	FILE *file;

	(void)state;
	assert_int_equal(output_open("no/such/folder", &file, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write 'no/such/folder': No such file or directory");
	assert_int_equal(output_open(".", &file, &err), -EISDIR);
}

static void test_belongs_to_sudo_caller(void **state)
{
	struct stat st;

	(void)state;
	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "54321", 1);
	write_output("theirs", "x");
	setenv("SUDO_UID", "12345x", 1);
	write_output("ours", "x");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(stat("theirs", &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 54321);
	assert_int_equal(stat("ours", &st), 0);
	assert_int_equal(st.st_uid, 0);
}

static void test_no_colors_without_terminal(void **state)
{
	FILE *file = fopen("file", "w");

	(void)state;
	assert_non_null(file);
	setenv("TERM", "xterm", 1);
	assert_false(output_color(file));
	assert_int_equal(output_width(file), 0);
	fclose(file);
}

static void test_colors_on_terminal(void **state)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	FILE *tty = fd < 0 ? NULL : fdopen(fd, "r+");

	(void)state;
	if (!tty || !isatty(fd)) {
		print_message("no pseudo terminals here\n");
		skip();
	}
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_true(output_color(tty));
	setenv("NO_COLOR", "", 1);
	assert_true(output_color(tty));
	setenv("NO_COLOR", "1", 1);
	assert_false(output_color(tty));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(output_color(tty));
	fclose(tty);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_name_before_commit),
		TEST(test_replaces_as_a_whole),
		TEST(test_abandon),
		TEST(test_follows_links),
		TEST(test_umask),
		TEST(test_pipe),
		TEST(test_stdout),
		TEST(test_full_disk),
		TEST(test_nowhere),
		TEST(test_belongs_to_sudo_caller),
		TEST(test_no_colors_without_terminal),
		TEST(test_colors_on_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
