/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the list of facts about a machine: which there are, their names and their order. */
#include "host/fingerprint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "host/clock.h"
#include "host/cpumodel.h"
#include "host/kconfig.h"
#include "host/procfile.h"
#include "host/thermal.h"

/* Facts are collected one after the other; the first lack of memory ends it. */
struct print {
	const char *root;
	struct fact **facts;
	size_t *n;
	int error;
	char release[128], version[256], cmdline[4096];
	char *config; /* NULL: unknown */
};

__attribute__((format(printf, 3, 4))) static void add(struct print *print, const char *name,
						      const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (*text && !print->error)
		print->error = result_add_fact(print->facts, print->n, name, text);
}

/* The content of a file as it is, if it is there. */
static void add_file(struct print *print, const char *name, const char *path)
{
	char text[512];

	if (procfile_text(print->root, path, text, sizeof(text)) > 0)
		add(print, name, "%s", text);
}

/* Append to a list in a buffer; what does not fit is cut. */
__attribute__((format(printf, 4, 5))) static void join(char *buf, size_t len, const char *gap,
						       const char *fmt, ...)
{
	size_t at = strlen(buf);
	va_list ap;

	if (at)
		at += (size_t)snprintf(buf + at, len - at, "%s", gap);
	if (at >= len)
		return;
	va_start(ap, fmt);
	vsnprintf(buf + at, len - at, fmt, ap);
	va_end(ap);
}

/* The word of the boot options that starts with prefix, or false. */
static bool boot_option(const struct print *print, const char *prefix, char *buf, size_t len)
{
	size_t prefix_len = strlen(prefix);

	for (const char *at = print->cmdline; *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (!strncmp(at, prefix, prefix_len)) {
			snprintf(buf, len, "%.*s", (int)word, at);
			return true;
		}
		at += word;
	}
	return false;
}

static void add_kernel(struct print *print)
{
	struct utsname uts;
	char arch[sizeof(uts.machine)] = "";

	/* Not uname(): it tells what setarch(8) made up for this process. */
	if (procfile_text(print->root, "/proc/sys/kernel/arch", arch, sizeof(arch)) < 0 &&
	    !uname(&uts))
		snprintf(arch, sizeof(arch), "%s", uts.machine);
	add(print, "kernel", "%s", print->release);
	add(print, "kernel_version", "%s", print->version);
	add(print, "arch", "%s", arch);
	add(print, "userland_bits", "%zu", 8 * sizeof(void *));
}

/* The choice the kernel was built with. */
static const char *built_preempt(const char *config)
{
	static const struct {
		const char *option, *model;
	} models[] = {{"PREEMPT_RT", "rt"},
		      {"PREEMPT_NONE", "none"},
		      {"PREEMPT_VOLUNTARY", "voluntary"},
		      {"PREEMPT_LAZY", "lazy"},
		      {"PREEMPT", "full"}};

	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		if (kconfig_on(config, models[i].option))
			return models[i].model;
	return NULL;
}

/*
 * What is in effect, not what was built: a kernel with PREEMPT_DYNAMIC chooses at boot, and debugfs
 * (root only) shows the choice in parentheses: "none voluntary (full) lazy".
 */
static void add_preempt(struct print *print)
{
	const char *built = built_preempt(print->config), *open, *close;
	char text[128];

	if ((procfile_text(print->root, "/sys/kernel/realtime", text, sizeof(text)) > 0 &&
	     !strcmp(text, "1")) ||
	    strstr(print->version, "PREEMPT_RT") || strstr(print->version, "PREEMPT RT")) {
		add(print, "preempt", "rt");
		return;
	}
	if (procfile_text(print->root, "/sys/kernel/debug/sched/preempt", text, sizeof(text)) > 0 &&
	    (open = strchr(text, '(')) && (close = strchr(open, ')'))) {
		add(print, "preempt", "%.*s", (int)(close - open - 1), open + 1);
		return;
	}
	if (strstr(print->version, "PREEMPT_DYNAMIC")) {
		if (boot_option(print, "preempt=", text, sizeof(text)))
			add(print, "preempt", "%s", text + strlen("preempt="));
		else if (built)
			add(print, "preempt", "%s", built);
	} else if (built) {
		add(print, "preempt", "%s", built);
	} else if (strstr(print->version, "PREEMPT")) {
		add(print, "preempt", "full");
	}
}

static void add_timer(struct print *print)
{
	char text[256];

	if (kconfig_value(print->config, "HZ", text, sizeof(text)))
		add(print, "hz", "%s", text);
	if (kconfig_on(print->config, "HZ_PERIODIC"))
		add(print, "timer", "periodic");
	else if (kconfig_on(print->config, "NO_HZ_FULL") &&
		 boot_option(print, "nohz_full=", text, sizeof(text)))
		add(print, "timer", "full");
	else if (kconfig_on(print->config, "NO_HZ_IDLE") || kconfig_on(print->config, "NO_HZ_FULL"))
		add(print, "timer", "idle");
}

static void add_debug_options(struct print *print)
{
	static const char *const costly[] = {
		"PROVE_LOCKING",
		"LOCK_STAT",
		"DEBUG_LOCK_ALLOC",
		"DEBUG_SPINLOCK",
		"DEBUG_MUTEXES",
		"DEBUG_ATOMIC_SLEEP",
		"DEBUG_PREEMPT",
		"KASAN",
		"KCSAN",
		"KMSAN",
		"UBSAN",
		"KCOV",
		"DEBUG_OBJECTS",
		"DEBUG_KMEMLEAK",
		"SLUB_DEBUG_ON",
		"DEBUG_PAGEALLOC_ENABLE_DEFAULT",
		"DEBUG_VM",
		"DEBUG_LIST",
		"DEBUG_NET",
		"NET_DEV_REFCNT_TRACKER",
		"NET_NS_REFCNT_TRACKER",
		"IRQSOFF_TRACER",
		"PREEMPT_TRACER",
		"INIT_ON_ALLOC_DEFAULT_ON",
		"INIT_ON_FREE_DEFAULT_ON",
	};
	char text[1024] = "";

	if (!print->config)
		return;
	for (size_t i = 0; i < sizeof(costly) / sizeof(*costly); i++)
		if (kconfig_on(print->config, costly[i]))
			join(text, sizeof(text), " ", "%s", costly[i]);
	add(print, "debug_options", "%s", *text ? text : "none");
}

/* Only those that bear on speed: the rest of the command line is nobody's business. */
static void add_boot_options(struct print *print)
{
	static const char *const telling[] = {
		"mitigations=",
		"preempt=",
		"isolcpus=",
		"nohz_full=",
		"rcu_nocbs=",
		"idle=",
		"processor.max_cstate=",
		"intel_idle.max_cstate=",
		"intel_pstate=",
		"amd_pstate=",
		"cpufreq.",
		"threadirqs",
		"maxcpus=",
		"nosmt",
		"pti=",
		"spectre_v2=",
		"init_on_alloc=",
		"init_on_free=",
		"slub_debug",
		"iommu=",
		"transparent_hugepage=",
	};
	char text[1024] = "", option[256];

	for (size_t i = 0; i < sizeof(telling) / sizeof(*telling); i++)
		if (boot_option(print, telling[i], option, sizeof(option)))
			join(text, sizeof(text), " ", "%s", option);
	add(print, "boot_options", "%s", text);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* "meltdown: PTI; spectre_v2: Retpolines; vulnerable: spec_store_bypass". */
static void add_mitigations(struct print *print)
{
	char folder[4096], text[1024] = "", open[512] = "";
	struct dirent **list;
	int n;

	snprintf(folder, sizeof(folder), "%s/sys/devices/system/cpu/vulnerabilities",
		 print->root ? print->root : "");
	n = scandir(folder, &list, visible, alphasort);
	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		static const char mitigated[] = "Mitigation: ";
		char path[320], state[256];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/vulnerabilities/%s",
			 list[i]->d_name);
		if (procfile_text(print->root, path, state, sizeof(state)) < 0)
			state[0] = '\0';
		if (!strncmp(state, mitigated, sizeof(mitigated) - 1))
			join(text, sizeof(text), "; ", "%s: %.*s", list[i]->d_name,
			     (int)strcspn(state + sizeof(mitigated) - 1, ";"),
			     state + sizeof(mitigated) - 1);
		else if (!strncmp(state, "Vulnerable", 10))
			join(open, sizeof(open), ", ", "%s", list[i]->d_name);
		free(list[i]);
	}
	free(list);
	if (*open)
		join(text, sizeof(text), "; ", "vulnerable: %s", open);
	add(print, "mitigations", "%s", *text ? text : "none needed");
}

static void add_cpu(struct print *print)
{
	struct cpumodel model;
	double hz;

	cpumodel_read(print->root, &model);
	add(print, "cpu", "%s", model.name);
	if (model.online)
		add(print, "cpus", "%zu", model.online);
	if (!print->root && !clock_measure(-1, &hz, NULL) && hz > 0)
		add(print, "cpu_mhz_measured", "%.0f", hz / 1e6);
	add(print, "microcode", "%s", model.microcode);
	add(print, "board", "%s", model.board);
	add(print, "virtualisation", "%s", model.hypervisor);
}

/* One word when all CPUs agree. */
static void add_governor(struct print *print)
{
	char first[64], text[64], path[96];

	if (procfile_text(print->root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
			  first, sizeof(first)) < 0)
		return;
	for (unsigned int cpu = 1; cpu < 1024; cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", cpu);
		if (procfile_text(print->root, path, text, sizeof(text)) < 0)
			break;
		if (strcmp(first, text)) {
			add(print, "governor", "mixed: %s, %s", first, text);
			return;
		}
	}
	add(print, "governor", "%s", first);
}

static void add_memory(struct print *print)
{
	unsigned long long kib;
	char text[8192], *at;

	if (procfile_text(print->root, "/proc/meminfo", text, sizeof(text)) > 0 &&
	    (at = strstr(text, "MemTotal:")) && sscanf(at, "MemTotal: %llu kB", &kib) == 1)
		add(print, "memory_bytes", "%llu", kib * 1024);
}

static void add_thermal(struct print *print)
{
	struct thermal thermal, clean = {.firmware_known = true};
	struct thermal_change since_boot;
	char text[1024] = "";

	thermal_read(print->root, &thermal);
	for (size_t i = 0; i < thermal.n_sensors; i++)
		join(text, sizeof(text), ", ", "%s %.1f °C", thermal.sensors[i].name,
		     thermal.sensors[i].millidegrees / 1000.0);
	add(print, "temperatures", "%s", text);
	if (!thermal.firmware_known)
		return;
	/* Against a machine on which nothing has happened yet. */
	thermal.alarm_known = thermal.counts_known = false;
	thermal_compare(&clean, &thermal, &since_boot);
	add(print, "throttled", "%s", since_boot.throttled ? since_boot.detail : "no");
}

static void add_sysctls(struct print *print)
{
	static const char *const names[] = {
		"net.core.rmem_max",
		"net.core.wmem_max",
		"net.core.default_qdisc",
		"net.core.netdev_max_backlog",
		"net.core.netdev_budget",
		"net.core.busy_poll",
		"net.core.busy_read",
		"net.core.bpf_jit_enable",
		"net.ipv4.tcp_congestion_control",
		"net.ipv4.tcp_rmem",
		"net.ipv4.tcp_wmem",
		"net.netfilter.nf_conntrack_max",
		"kernel.sched_rt_runtime_us",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[96], text[128];

		snprintf(path, sizeof(path), "/proc/sys/%s", names[i]);
		for (char *dot = path + strlen("/proc/sys/"); (dot = strchr(dot, '.')); dot++)
			*dot = '/';
		if (procfile_text(print->root, path, text, sizeof(text)) < 0)
			continue;
		/* tcp_rmem and its like have tabs between three numbers. */
		for (char *tab = text; (tab = strchr(tab, '\t')); tab++)
			*tab = ' ';
		add(print, names[i], "%s", text);
	}
}

static void add_os(struct print *print)
{
	char text[4096], *at;

	if (procfile_text(print->root, "/etc/os-release", text, sizeof(text)) < 0)
		return;
	at = strstr(text, "PRETTY_NAME=");
	if (!at || (at != text && at[-1] != '\n'))
		return;
	at += strlen("PRETTY_NAME=");
	at += *at == '"';
	add(print, "os", "%.*s", (int)strcspn(at, "\"\n"), at);
}

int fingerprint_read(const char *root, struct fact **facts, size_t *n, struct err *err)
{
	struct print print = {.root = root, .facts = facts};

	print.n = n;
	procfile_text(root, "/proc/sys/kernel/osrelease", print.release, sizeof(print.release));
	procfile_text(root, "/proc/sys/kernel/version", print.version, sizeof(print.version));
	procfile_text(root, "/proc/cmdline", print.cmdline, sizeof(print.cmdline));
	print.config = kconfig_read(root, print.release);
	add_kernel(&print);
	add_preempt(&print);
	add_timer(&print);
	add_debug_options(&print);
	add_boot_options(&print);
	add_mitigations(&print);
	add_cpu(&print);
	add_governor(&print);
	add_file(&print, "clocksource",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	add_memory(&print);
	add_thermal(&print);
	add_sysctls(&print);
	add_os(&print);
	free(print.config);
	return print.error ? err_sys(err, print.error, "cannot take the fingerprint of the host")
			   : 0;
}
