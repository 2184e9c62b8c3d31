/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What else RFC 2544, RFC 8219 and RFC 9004 ask about a path whose rates are known: the loss at
 * falling rates, the latency at shares of a rate, the longest burst. Each becomes a curve of the case.
 */
#ifndef RUN_AROUND_H
#define RUN_AROUND_H

#include "base/err.h"

struct probe;
struct result_case;
struct search_cfg;
struct search_outcome;

/* Before anything is measured: can the load do what is asked? -EINVAL. */
int around_check(const struct probe *probe, const struct search_cfg *cfg, struct err *err);
int around_measure(struct probe *probe, const struct search_cfg *cfg,
		   const struct search_outcome *outcome, struct result_case *c, struct err *err);

#endif
