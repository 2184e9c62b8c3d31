/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lab as text or JSON: who is linked to whom, with which addresses, and the ways packets take. */
#ifndef CMD_SHOW_H
#define CMD_SHOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct lab_spec;

/* Both plan the lab themselves; an impossible one is -EINVAL. all: every path, however many. */
int show_text(const struct lab_spec *spec, bool all, FILE *out, struct err *err);
/* NULL when the lab is impossible. */
json_t *show_json(const struct lab_spec *spec, struct err *err);

#endif
