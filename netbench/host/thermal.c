/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the places where kernels show temperatures and throttling. */
#include "host/thermal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/procfile.h"

/*
 * Raspberry Pi firmware, "get throttled": bits 0–3 say what is the case now, bits 16–19 what
 * happened since boot (or since somebody cleared them).
 */
enum { NOW_MASK = 0xf, SINCE_SHIFT = 16 };
static const char *const firmware_words[] = {"under-voltage", "frequency capped", "throttled",
					     "soft temperature limit"};

static void add_sensor(struct thermal *thermal, const char *chip, const char *label,
		       int64_t millidegrees)
{
	struct thermal_sensor *sensor;

	/* Broken sensors report absolute zero or the sun. */
	if (thermal->n_sensors == THERMAL_SENSORS_MAX || millidegrees < -60000 ||
	    millidegrees > 200000)
		return;
	sensor = &thermal->sensors[thermal->n_sensors++];
	snprintf(sensor->name, sizeof(sensor->name), "%s%s%s", chip, *label ? " " : "", label);
	sensor->millidegrees = (int32_t)millidegrees;
}

static void read_zones(const char *root, struct thermal *ret)
{
	for (unsigned int i = 0; i < THERMAL_SENSORS_MAX; i++) {
		char path[96], type[32];
		int64_t value;

		snprintf(path, sizeof(path), "/sys/class/thermal/thermal_zone%u/temp", i);
		if (procfile_number(root, path, 10, &value) < 0)
			continue;
		snprintf(path, sizeof(path), "/sys/class/thermal/thermal_zone%u/type", i);
		if (procfile_text(root, path, type, sizeof(type)) < 0)
			snprintf(type, sizeof(type), "zone %u", i);
		add_sensor(ret, type, "", value);
	}
}

/* hwmon names have '_' where thermal zones may have '-'. */
static bool same_name(const char *zone, const char *chip)
{
	while (*zone && (*zone == *chip || (*zone == '-' && *chip == '_'))) {
		zone++;
		chip++;
	}
	return !*zone && !*chip;
}

static void read_chip(const char *root, unsigned int chip, struct thermal *ret)
{
	char path[96], name[32], label[32];
	int64_t value;

	snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%u/name", chip);
	if (procfile_text(root, path, name, sizeof(name)) < 0)
		return;
	snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%u/in0_lcrit_alarm", chip);
	if (!strcmp(name, "rpi_volt") && !procfile_number(root, path, 10, &value)) {
		ret->alarm_known = true;
		ret->undervoltage = value != 0;
	}
	/* A Pi's thermal_zone0 "cpu-thermal" shows up again as the chip "cpu_thermal". */
	for (size_t i = 0; i < ret->n_sensors; i++)
		if (same_name(ret->sensors[i].name, name))
			return;
	for (unsigned int i = 1; i <= 16; i++) {
		snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%u/temp%u_input", chip, i);
		if (procfile_number(root, path, 10, &value) < 0)
			continue;
		snprintf(path, sizeof(path), "/sys/class/hwmon/hwmon%u/temp%u_label", chip, i);
		if (procfile_text(root, path, label, sizeof(label)) < 0)
			snprintf(label, sizeof(label), "temp%u", i);
		add_sensor(ret, name, label, value);
	}
}

/* A package event is seen by each CPU of the package: the sum only says whether it grew. */
static void read_counts(const char *root, struct thermal *ret)
{
	static const char *const files[] = {"core_throttle_count", "package_throttle_count"};

	for (unsigned int cpu = 0; cpu < 1024; cpu++) {
		bool found = false;

		for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
			char path[96];
			int64_t value;

			snprintf(path, sizeof(path),
				 "/sys/devices/system/cpu/cpu%u/thermal_throttle/%s", cpu,
				 files[i]);
			if (procfile_number(root, path, 10, &value) < 0)
				continue;
			ret->counts_known = found = true;
			ret->throttle_count += (uint64_t)value;
		}
		/* CPU 0 is never missing where the others have it. */
		if (!found && !ret->counts_known)
			return;
	}
}

void thermal_read(const char *root, struct thermal *ret)
{
	int64_t bits;

	memset(ret, 0, sizeof(*ret));
	read_zones(root, ret);
	for (unsigned int chip = 0; chip < 32; chip++)
		read_chip(root, chip, ret);
	read_counts(root, ret);
	/* Hexadecimal without 0x. */
	if (!procfile_number(root, "/sys/devices/platform/soc/soc:firmware/get_throttled", 16,
			     &bits)) {
		ret->firmware_known = true;
		ret->firmware_bits = (uint32_t)bits;
	}
}

static const struct thermal_sensor *sensor_named(const struct thermal *thermal, const char *name)
{
	for (size_t i = 0; i < thermal->n_sensors; i++)
		if (!strcmp(thermal->sensors[i].name, name))
			return &thermal->sensors[i];
	return NULL;
}

static void compare_temperatures(const struct thermal *before, const struct thermal *after,
				 struct thermal_change *ret)
{
	for (size_t i = 0; i < after->n_sensors; i++) {
		const struct thermal_sensor *now = &after->sensors[i];
		const struct thermal_sensor *then = sensor_named(before, now->name);
		int32_t rise;

		if (!then)
			continue;
		rise = now->millidegrees - then->millidegrees;
		if (!ret->temperature_known || rise > ret->rise_millidegrees)
			ret->rise_millidegrees = rise;
		if (!ret->temperature_known || now->millidegrees > ret->hottest_millidegrees) {
			ret->hottest_millidegrees = now->millidegrees;
			snprintf(ret->hottest, sizeof(ret->hottest), "%s", now->name);
		}
		ret->temperature_known = true;
	}
}

__attribute__((format(printf, 2, 3))) static void add_detail(struct thermal_change *ret,
							     const char *fmt, ...)
{
	size_t at = strlen(ret->detail);
	va_list ap;

	if (at && at + 2 < sizeof(ret->detail))
		at += (size_t)snprintf(ret->detail + at, sizeof(ret->detail) - at, ", ");
	va_start(ap, fmt);
	vsnprintf(ret->detail + at, sizeof(ret->detail) - at, fmt, ap);
	va_end(ap);
	ret->throttled = true;
}

void thermal_compare(const struct thermal *before, const struct thermal *after,
		     struct thermal_change *ret)
{
	memset(ret, 0, sizeof(*ret));
	compare_temperatures(before, after, ret);
	if (before->firmware_known && after->firmware_known) {
		/* What happened long ago does not count: only what became set, or holds now. */
		uint32_t fresh = (after->firmware_bits & ~before->firmware_bits) >> SINCE_SHIFT;
		uint32_t bits = (fresh | before->firmware_bits | after->firmware_bits) & NOW_MASK;

		ret->throttle_known = true;
		for (unsigned int i = 0; i < 4; i++)
			if (bits & 1u << i)
				add_detail(ret, "%s", firmware_words[i]);
	}
	if (before->alarm_known && after->alarm_known) {
		ret->throttle_known = true;
		if ((before->undervoltage || after->undervoltage) && !ret->throttled)
			add_detail(ret, "%s", firmware_words[0]);
	}
	if (before->counts_known && after->counts_known) {
		ret->throttle_known = true;
		if (after->throttle_count > before->throttle_count)
			add_detail(ret, "%llu thermal throttle events",
				   (unsigned long long)(after->throttle_count -
							before->throttle_count));
	}
}
