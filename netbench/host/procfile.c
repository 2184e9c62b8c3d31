/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reading of small kernel files, from the machine or from a folder of recorded ones. */
#include "host/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rooted(const char *root, const char *path, char buf[PATH_MAX])
{
	return snprintf(buf, PATH_MAX, "%s%s", root ? root : "", path) < PATH_MAX ? 0
										  : -ENAMETOOLONG;
}

int procfile_open(const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	if (rooted(root, path, full) < 0)
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

DIR *procfile_opendir(const char *root, const char *path)
{
	char full[PATH_MAX];

	return rooted(root, path, full) < 0 ? NULL : opendir(full);
}

ssize_t procfile_pread(int fd, char *buf, size_t len)
{
	size_t have = 0;

	/* A file of many records comes in pieces of a page or so. */
	while (have + 1 < len) {
		ssize_t got = pread(fd, buf + have, len - 1 - have, (off_t)have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) {
			buf[have] = '\0';
			return (ssize_t)have;
		}
		have += (size_t)got;
	}
	return -EFBIG;
}

ssize_t procfile_text(const char *root, const char *path, char *buf, size_t len)
{
	int fd = procfile_open(root, path);
	ssize_t have;

	if (fd < 0)
		return fd;
	have = procfile_pread(fd, buf, len);
	close(fd);
	if (have < 0)
		return have;
	/* Device tree strings end with NUL, all others with a newline. */
	while (have && strchr(" \t\n", buf[have - 1]))
		buf[--have] = '\0';
	return have ? have : -ENODATA;
}

int procfile_number(const char *root, const char *path, int base, int64_t *ret)
{
	char text[64], *end;
	ssize_t len = procfile_text(root, path, text, sizeof(text));
	long long value;

	if (len < 0)
		return (int)len;
	errno = 0;
	value = strtoll(text, &end, base);
	if (errno || end == text || *end)
		return -EINVAL;
	*ret = value;
	return 0;
}
