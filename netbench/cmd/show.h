/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lab as text or JSON: who is linked to whom, with which addresses, and the ways packets take. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct lab_spec;

/* name: that of the lab as it is up, or as its file says. Both plan the lab themselves; an impossible one is -EINVAL. all: every path, however many. */
int show_text(const struct lab_spec *spec, const char *name, bool all, FILE *out, struct err *err);
/* NULL, with err, on failure. */
json_t *show_json(const struct lab_spec *spec, const char *name, struct err *err);

#endif
