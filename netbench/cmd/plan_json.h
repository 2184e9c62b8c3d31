/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan for programs: what --dry-run --json prints. Values are texts, as --set would take them. */
#ifndef CMD_PLAN_JSON_H
#define CMD_PLAN_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

struct plan;

/* All plans of a command line in one document. NULL, with err, on failure. */
json_t *plans_json(struct plan *const *plans, size_t n, struct err *err);

#endif
