/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The right to build labs: as root, or inside a user namespace where the system allows that. */
#ifndef RUN_PRIVILEGE_H
#define RUN_PRIVILEGE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Find out in a child whether labs can be built here. Without privilege but with user namespaces
 * the calling process moves into one, with *ret_userns true; it stays there. -EPERM: neither works,
 * with the reason and the remedy in one sentence.
 */
int privilege_gain(bool *ret_userns, struct err *err);

#endif
