/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of `list` about the stages of filters. */
#ifndef CMD_STAGES_H
#define CMD_STAGES_H

#include <jansson.h>
#include <stdbool.h>

struct err;

/* What filter_check() said, without the name of the stage in front. */
const char *stage_reason(const struct err *err);
/* All stages, a line each, and why one cannot be used here; with verbose the options. Exit code. */
int stages_print(bool verbose);
/* The named stages, each with the options it takes and the values of these. Exit code. */
int stages_detail(int n, char *const *names);
json_t *stages_json(void);

#endif
