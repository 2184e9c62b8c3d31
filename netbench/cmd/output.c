/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns result files: whole or absent, and given to the caller of sudo. */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A result file replaces its name by rename(2). That is wrong for what is not a regular file (a
 * pipe of `-o >(gzip)`), and surprising for /dev/stdout, which may lead to one.
 */
static bool replaces(const char *path)
{
	struct stat st;

	if (!strncmp(path, "/dev/", 5))
		return false;
	return stat(path, &st) || S_ISREG(st.st_mode);
}

/* The file behind a symbolic link is what gets replaced, not the link. */
static char *final_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

/* The same for the same path and process, so that commit and abandon find it again. */
static char *temp_path(const char *target)
{
	const char *slash = strrchr(target, '/');
	int dir = slash ? (int)(slash - target) + 1 : 0;
	char *temp;

	if (asprintf(&temp, "%.*s.%s.%ld.tmp", dir, target, target + dir, (long)getpid()) < 0)
		return NULL;
	return temp;
}

static int open_unnamed(const char *target)
{
	char *copy = strdup(target), *slash;
	int fd;

	if (!copy)
		return -ENOMEM;
	slash = strrchr(copy, '/');
	if (slash)
		slash[1] = '\0';
	fd = open(slash ? copy : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	fd = fd < 0 ? -errno : fd;
	free(copy);
	return fd;
}

static int open_replacing(const char *target)
{
	int fd = open_unnamed(target);
	char *temp;

	/* Old kernels and some filesystems answer EISDIR, EINVAL or ENOENT instead of EOPNOTSUPP.
	 */
	if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -EINVAL && fd != -ENOENT)
		return fd;
	temp = temp_path(target);
	if (!temp)
		return -ENOMEM;
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	fd = fd < 0 ? -errno : fd;
	free(temp);
	return fd;
}

/* The folder is what a replaced file is made in. */
static int folder_access(const char *path)
{
	char *target = final_path(path), *slash = target ? strrchr(target, '/') : NULL;
	int r = target ? 0 : -ENOMEM;

	if (slash)
		slash[1] = '\0';
	if (!r && access(slash ? target : ".", W_OK | X_OK))
		r = -errno;
	free(target);
	return r;
}

int output_check(const char *path, struct err *err)
{
	struct stat st;
	int r = 0;

	if (!strcmp(path, "-"))
		return 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		r = -EISDIR;
	else if (replaces(path))
		r = folder_access(path);
	else if (access(path, W_OK))
		r = -errno;
	return r ? err_sys(err, r, "cannot write '%s'", path) : 0;
}

static bool sudo_caller(uid_t *uid, gid_t *gid)
{
	const char *u = getenv("SUDO_UID"), *g = getenv("SUDO_GID");
	char *end_u, *end_g;

	if (geteuid() || !u || !g || !*u || !*g)
		return false;
	*uid = (uid_t)strtoul(u, &end_u, 10);
	*gid = (gid_t)strtoul(g, &end_g, 10);
	return !*end_u && !*end_g;
}

int output_open(const char *path, FILE **ret_file, struct err *err)
{
	char *target = NULL;
	FILE *file;
	uid_t uid;
	gid_t gid;
	int fd;

	if (!strcmp(path, "-")) {
		*ret_file = stdout;
		return 0;
	}
	if (replaces(path)) {
		target = final_path(path);
		fd = target ? open_replacing(target) : -ENOMEM;
	} else {
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd < 0) {
		free(target);
		return err_sys(err, fd, "cannot write '%s'", path);
	}
	/* Best effort: a filesystem without owners is no reason to refuse a result. */
	if (target && sudo_caller(&uid, &gid) && fchown(fd, uid, gid))
		errno = 0;
	file = fdopen(fd, "w");
	if (!file) {
		fd = (close(fd), -ENOMEM);
		free(target);
		return err_sys(err, fd, "cannot write '%s'", path);
	}
	free(target);
	*ret_file = file;
	return 0;
}

/* Give the file of fd the name temp, unless it was created under that name. */
static int name_it(int fd, const char *temp)
{
	char link[sizeof("/proc/self/fd/") + 12];
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_nlink)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, link, AT_FDCWD, temp, AT_SYMLINK_FOLLOW))
		return -errno;
	return 0;
}

static int put_in_place(FILE *file, const char *path)
{
	char *target = final_path(path), *temp = target ? temp_path(target) : NULL;
	int r = -ENOMEM;

	if (temp) {
		r = name_it(fileno(file), temp);
		if (!r && rename(temp, target)) {
			r = -errno;
			unlink(temp);
		}
	}
	free(temp);
	free(target);
	return r;
}

int output_commit(FILE *file, const char *path, struct err *err)
{
	int r;

	r = output_flush(file, NULL);
	if (file == stdout)
		return r ? err_sys(err, r, "cannot write to standard output") : 0;
	if (r) {
		output_abandon(file, path);
		return err_sys(err, r, "cannot write '%s'", path);
	}
	if (replaces(path))
		r = put_in_place(file, path);
	if (fclose(file) && !r)
		r = -errno;
	return r ? err_sys(err, r, "cannot write '%s'", path) : 0;
}

void output_abandon(FILE *file, const char *path)
{
	char *target, *temp;
	struct stat st;

	if (!file || file == stdout)
		return;
	if (replaces(path) && !fstat(fileno(file), &st) && st.st_nlink) {
		target = final_path(path);
		temp = target ? temp_path(target) : NULL;
		if (temp)
			unlink(temp);
		free(temp);
		free(target);
	}
	fclose(file);
}

bool output_color(FILE *stream)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if ((no && *no) || !term || !strcmp(term, "dumb"))
		return false;
	return isatty(fileno(stream));
}

unsigned int output_width(FILE *stream)
{
	struct winsize size;

	if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

int output_flush(FILE *stream, struct err *err)
{
	int error;

	errno = 0;
	if (!fflush(stream) && !ferror(stream))
		return 0;
	error = errno ? errno : EIO;
	return err_sys(err, error, "cannot write the output");
}
