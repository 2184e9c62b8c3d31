/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the CPU, the board and the hypervisor call themselves. */
#ifndef HOST_CPUMODEL_H
#define HOST_CPUMODEL_H

#include <stddef.h>

/* "" is unknown. */
struct cpumodel {
	char name[128];	 /* "AMD EPYC", "Cortex-A72", "Cortex-A76 + Cortex-A55" */
	char board[128]; /* "Raspberry Pi 4 Model B Rev 1.4" */
	char microcode[32];
	char hypervisor[192]; /* "none" only where a CPU flag would tell */
	size_t online;	      /* 0: unknown */
};

void cpumodel_read(const char *root, struct cpumodel *ret);

#endif
