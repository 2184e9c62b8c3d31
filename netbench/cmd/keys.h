/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a load as they are written in a suite and for bench: KEY=VALUE, what it means. */
#ifndef CMD_KEYS_H
#define CMD_KEYS_H

#include <stdio.h>

#include "base/opt.h"

/* width: where lines are broken; 0: nowhere. 0 or -ENOMEM. */
int keys_print(const struct opt *opts, unsigned int indent, unsigned int width, FILE *out);

#endif
