/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts that make numbers of two machines comparable. A fact that the machine does not tell is
 * left out; nothing is guessed.
 */
#ifndef HOST_FINGERPRINT_H
#define HOST_FINGERPRINT_H

#include <stddef.h>

#include "base/err.h"
#include "result/result.h"

/*
 * Append the facts in order of interest; on failure (-ENOMEM) what was added stays. The names are
 * listed in docs/result.schema.json; the table's first line uses kernel, arch, cpu, cpus,
 * cpu_mhz_measured and preempt. With a root of NULL the clock is measured, which takes 2 ms.
 */
int fingerprint_read(const char *root, struct fact **facts, size_t *n, struct err *err);

#endif
