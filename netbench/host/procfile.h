/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small text files of the kernel (/proc, /sys). Every reader in this room takes a root: NULL for
 * the machine itself, or a folder with recorded files below proc/ and sys/.
 */
#ifndef HOST_PROCFILE_H
#define HOST_PROCFILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An absolute path is written as root/path. The fd is close-on-exec; -errno on failure. */
int procfile_open(const char *root, const char *path);
/* NULL when the folder does not exist or cannot be read. The caller closes it. */
DIR *procfile_opendir(const char *root, const char *path);
/* From the start of the file, without moving its offset; NUL-terminated. -EFBIG: did not fit. */
ssize_t procfile_pread(int fd, char *buf, size_t len);
/* As procfile_pread by path; white space at the end is removed. -ENODATA when nothing is left. */
ssize_t procfile_text(const char *root, const char *path, char *buf, size_t len);
/* A file that holds one number in the given base. 0 or -errno; -EINVAL when it is no number. */
int procfile_number(const char *root, const char *path, int base, int64_t *ret);

#endif
