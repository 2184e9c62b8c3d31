/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this machine has and lacks for netbench, tried out where that can be done without a trace. */
#ifndef CMD_CHECKUP_H
#define CMD_CHECKUP_H

#include <stdbool.h>
#include <stddef.h>

enum health {
	HEALTH_OK,
	HEALTH_WARN,
	HEALTH_MISSING,
	HEALTH_ABSENT, /* lacking, but nothing needs it yet */
};

struct checkup {
	const char *group, *name;
	enum health health;
	bool vital; /* without it nothing can run */
	char detail[160];
	const char *remedy; /* NULL when there is nothing to do */
};

/*
 * Fill at most room entries and return how many there are. Kernel features are tried in child
 * processes with namespaces of their own and a deadline.
 */
size_t checkup_run(struct checkup *list, size_t room);
const char *health_name(enum health health);

#endif
