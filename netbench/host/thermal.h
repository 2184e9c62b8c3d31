/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temperatures, and whether the machine slowed itself down, where the kernel shows them. */
#ifndef HOST_THERMAL_H
#define HOST_THERMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THERMAL_SENSORS_MAX = 32 };

struct thermal_sensor {
	char name[64]; /* "cpu-thermal", "k10temp Tctl" */
	int32_t millidegrees;
};

struct thermal {
	size_t n_sensors; /* 0: temperatures are unknown */
	struct thermal_sensor sensors[THERMAL_SENSORS_MAX];
	bool firmware_known;		/* Raspberry Pi: get_throttled */
	uint32_t firmware_bits;		/* 0–3 now, 16–19 since boot; see thermal.c */
	bool alarm_known, undervoltage; /* Raspberry Pi: hwmon rpi_volt */
	bool counts_known;		/* x86: thermal_throttle */
	uint64_t throttle_count;	/* core and package events of all CPUs */
};

struct thermal_change {
	bool temperature_known; /* a sensor was there both times */
	char hottest[64];	/* the sensor with the highest temperature afterwards */
	int32_t hottest_millidegrees;
	int32_t rise_millidegrees; /* the largest rise of any sensor */
	bool throttle_known;	   /* the kernel can tell */
	bool throttled;
	char detail[96]; /* "under-voltage, frequency capped", "3 throttle events"; or "" */
};

/* Never fails: what is not there stays unknown. Allocates nothing. */
void thermal_read(const char *root, struct thermal *ret);
void thermal_compare(const struct thermal *before, const struct thermal *after,
		     struct thermal_change *ret);

#endif
