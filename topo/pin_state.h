/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /run/netbench/LAB holds: a lab as it was built, one line per node and link, some per filter. */
#ifndef TOPO_PIN_STATE_H
#define TOPO_PIN_STATE_H

#include "topo/lab.h"

struct pin_state {
	struct lab_spec spec; /* names and prefixes written out, nothing left to plan */
	uint64_t *inodes;     /* of the nodes' namespaces */
};

int pin_state_of(const struct lab *lab, struct pin_state *ret, struct err *err);
int pin_state_write(int fd, const struct pin_state *state, struct err *err);
/* path is for error texts. ret is released on failure. */
int pin_state_read(int fd, const char *path, struct pin_state *ret, struct err *err);
void pin_state_release(struct pin_state *state);

#endif
