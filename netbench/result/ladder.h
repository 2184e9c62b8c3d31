/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a case costs more than another one, in time per packet. */
#ifndef RESULT_LADDER_H
#define RESULT_LADDER_H

#include <stddef.h>

struct result;
struct versus;

/*
 * Fill `versus` of the case from the samples of both: of `time_per_frame`, or of `cost` where one of
 * them lacks it. -ENOENT with nothing filled when they have neither in common, -EINVAL for a case
 * compared with itself, -ENOMEM. What was compared before is replaced.
 */
int result_compare_case(struct result *result, size_t at, size_t baseline);
/* Free what the struct holds, not the struct. */
void versus_release(struct versus *versus);

#endif
