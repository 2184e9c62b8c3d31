/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest frame a device receives, seen by a packet socket during the warm-up. */
#ifndef RUN_TAP_H
#define RUN_TAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lab;

struct tap {
	int fd;
	uint32_t largest; /* bytes with the Ethernet header, without FCS; 0: nothing seen */
};

/* Open on the given end of a link. The socket belongs to the tap. */
int tap_open(struct lab *lab, size_t link, unsigned int side, struct tap *ret, struct err *err);
/*
 * Look at what has come so far. The kernel filters for frames larger than the largest seen, so a
 * tap costs the receiver a filter run per frame and next to no copies.
 */
void tap_look(struct tap *tap);
void tap_close(struct tap *tap);

#endif
