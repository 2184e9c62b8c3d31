/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the names of CPUs: /proc/cpuinfo says little on ARM, so its part numbers are known here. */
#include "host/cpumodel.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfile.h"

/* Designs of Arm Ltd. (implementer 0x41), by arch/arm64/include/asm/cputype.h and the TRMs. */
static const struct {
	unsigned long part;
	const char *name;
} arm_parts[] = {
	{0xb76, "ARM1176"},	{0xc05, "Cortex-A5"},	{0xc07, "Cortex-A7"},
	{0xc08, "Cortex-A8"},	{0xc09, "Cortex-A9"},	{0xc0e, "Cortex-A17"},
	{0xc0f, "Cortex-A15"},	{0xd03, "Cortex-A53"},	{0xd04, "Cortex-A35"},
	{0xd05, "Cortex-A55"},	{0xd07, "Cortex-A57"},	{0xd08, "Cortex-A72"},
	{0xd09, "Cortex-A73"},	{0xd0a, "Cortex-A75"},	{0xd0b, "Cortex-A76"},
	{0xd0c, "Neoverse-N1"}, {0xd0d, "Cortex-A77"},	{0xd40, "Neoverse-V1"},
	{0xd41, "Cortex-A78"},	{0xd49, "Neoverse-N2"}, {0xd4f, "Neoverse-V2"},
};

/* The value of a "key\t: value" line, or NULL when the line has another key. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len))
		return NULL;
	line += len + strspn(line + len, " \t");
	return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

static void add_name(struct cpumodel *model, const char *name)
{
	size_t at = strlen(model->name);

	/* Each design once, however many cores have it. */
	if (*name && !strstr(model->name, name))
		snprintf(model->name + at, sizeof(model->name) - at, "%s%s", at ? " + " : "", name);
}

static void add_arm_part(struct cpumodel *model, unsigned long implementer, unsigned long part)
{
	char text[48];

	for (size_t i = 0; i < sizeof(arm_parts) / sizeof(*arm_parts); i++)
		if (implementer == 0x41 && arm_parts[i].part == part) {
			add_name(model, arm_parts[i].name);
			return;
		}
	snprintf(text, sizeof(text), "implementer 0x%lx part 0x%lx", implementer, part);
	add_name(model, text);
}

struct cpuinfo {
	bool has_flags, hypervisor;
	size_t processors;
	unsigned long implementer;
};

static void parse_line(char *line, struct cpuinfo *info, struct cpumodel *model)
{
	static const char *const names[] = {"model name", "cpu model", "uarch"};
	const char *value;

	if (value_of(line, "processor"))
		info->processors++;
	if ((value = value_of(line, "CPU implementer")))
		info->implementer = strtoul(value, NULL, 16);
	if ((value = value_of(line, "CPU part")))
		add_arm_part(model, info->implementer, strtoul(value, NULL, 16));
	if ((value = value_of(line, "microcode")))
		snprintf(model->microcode, sizeof(model->microcode), "%s", value);
	if ((value = value_of(line, "flags"))) {
		info->has_flags = true;
		info->hypervisor = strstr(value, " hypervisor") != NULL;
	}
	/* 32-bit ARM calls every core "ARMv7 Processor rev 3 (v7l)": the part says more. */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if ((value = value_of(line, names[i])) && strncmp(value, "ARMv", 4))
			add_name(model, value);
}

/* Line by line: on large machines the file has megabytes. */
static void read_cpuinfo(const char *root, struct cpuinfo *info, struct cpumodel *model)
{
	int fd = procfile_open(root, "/proc/cpuinfo");
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return;
	while (getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		parse_line(line, info, model);
	}
	free(line);
	fclose(file);
}

/* "0-3,8" is five. */
static size_t count_list(const char *text)
{
	size_t n = 0;

	while (*text) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return 0;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last > 65535)
			return 0;
		n += last - first + 1;
		text = end + (*end == ',');
		if (*end && *end != ',')
			return 0;
	}
	return n;
}

static void read_dmi(const char *root, char *buf, size_t len)
{
	char vendor[64] = "", product[64] = "";

	procfile_text(root, "/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	procfile_text(root, "/sys/class/dmi/id/product_name", product, sizeof(product));
	snprintf(buf, len, "%s%s%s", vendor, *vendor && *product ? " " : "", product);
}

/* A hypervisor that shows itself in none of the usual places is still known to be there. */
static void read_hypervisor(const char *root, const struct cpuinfo *info, struct cpumodel *model)
{
	char *name = model->hypervisor, dmi[128], clock[64];
	size_t len = sizeof(model->hypervisor);

	if (procfile_text(root, "/sys/hypervisor/type", name, len) > 0 ||
	    procfile_text(root, "/proc/device-tree/hypervisor/compatible", name, len) > 0)
		return;
	name[0] = '\0';
	if (info->has_flags && !info->hypervisor) {
		snprintf(name, len, "none");
		return;
	}
	if (!info->hypervisor)
		return;
	read_dmi(root, dmi, sizeof(dmi));
	if (procfile_text(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			  clock, sizeof(clock)) > 0 &&
	    !strcmp(clock, "kvm-clock"))
		snprintf(name, len, "kvm%s%s%s", *dmi ? " (" : "", dmi, *dmi ? ")" : "");
	else
		snprintf(name, len, "%s", *dmi ? dmi : "unknown hypervisor");
}

void cpumodel_read(const char *root, struct cpumodel *ret)
{
	struct cpuinfo info = {0};
	char text[256];

	memset(ret, 0, sizeof(*ret));
	read_cpuinfo(root, &info, ret);
	ret->online = info.processors;
	if (procfile_text(root, "/sys/devices/system/cpu/online", text, sizeof(text)) > 0 &&
	    count_list(text))
		ret->online = count_list(text);
	if (procfile_text(root, "/proc/device-tree/model", ret->board, sizeof(ret->board)) < 0)
		read_dmi(root, ret->board, sizeof(ret->board));
	read_hypervisor(root, &info, ret);
}
