/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the finding and reading of the kernel's configuration. */
#include "host/kconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "host/procfile.h"

enum { CONFIG_MAX = 4 << 20 }; /* Debian's has 0.27 MB */

/* zlib passes a file that is not compressed through as it is. */
static char *inflate_text(int fd)
{
	gzFile file = gzdopen(fd, "r");
	char *text = NULL, *grown;
	size_t len = 0, room = 1 << 18;
	int got = -1;

	if (!file) {
		close(fd);
		return NULL;
	}
	do {
		room *= 2;
		grown = room <= CONFIG_MAX ? realloc(text, room) : NULL;
		if (!grown)
			break;
		text = grown;
		got = gzread(file, text + len, (unsigned int)(room - len - 1));
		if (got > 0)
			len += (size_t)got;
	} while (got > 0 && len == room - 1);
	gzclose(file);
	if (got < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

char *kconfig_read(const char *root, const char *release)
{
	char path[256];
	int fd = procfile_open(root, "/proc/config.gz");

	if (fd < 0 && release) {
		snprintf(path, sizeof(path), "/boot/config-%s", release);
		fd = procfile_open(root, path);
	}
	return fd < 0 ? NULL : inflate_text(fd);
}

bool kconfig_value(const char *text, const char *name, char *buf, size_t len)
{
	char key[96];
	const char *at = text;
	int key_len = snprintf(key, sizeof(key), "CONFIG_%s=", name);

	while (at && (at = strstr(at, key))) {
		if (at == text || at[-1] == '\n') {
			at += key_len;
			at += *at == '"';
			snprintf(buf, len, "%.*s", (int)strcspn(at, "\"\n"), at);
			return true;
		}
		at += key_len;
	}
	return false;
}

bool kconfig_on(const char *text, const char *name)
{
	char value[8];

	return kconfig_value(text, name, value, sizeof(value)) && !strcmp(value, "y");
}
