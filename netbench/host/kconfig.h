/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The configuration the running kernel was built with, where it can be found. */
#ifndef HOST_KCONFIG_H
#define HOST_KCONFIG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text of /proc/config.gz, or of /boot/config-RELEASE; the caller frees it. NULL when neither
 * is there.
 */
char *kconfig_read(const char *root, const char *release);
/* Is CONFIG_name built in? A NULL text says no. */
bool kconfig_on(const char *text, const char *name);
/* The value of CONFIG_name without quotes; false when it is not set. */
bool kconfig_value(const char *text, const char *name, char *buf, size_t len);

#endif
