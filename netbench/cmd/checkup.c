/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the list of what netbench looks for on a machine, and how each item is found out. */
#include "cmd/checkup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/tryout.h"
#include "host/fingerprint.h"
#include "host/procfile.h"

struct check {
	const char *group, *name;
	bool (*look)(const struct check *check, struct checkup *entry); /* true: fine */
	int (*trial)(const char *words, struct err *err);		/* for look_trial */
	const char *path;   /* what look looks at; words of the trial */
	uint64_t arg;	    /* capability, or the least value that will do */
	enum health unless; /* what it means when it is not fine */
	bool vital;
	const char *remedy;
};

const char *health_name(enum health health)
{
	static const char *const names[] = {"ok", "warn", "missing", "absent"};

	return names[health];
}

static bool say(struct checkup *entry, bool fine, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool say(struct checkup *entry, bool fine, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(entry->detail, sizeof(entry->detail), fmt, ap);
	va_end(ap);
	return fine;
}

/* Capabilities by number; linux/capability.h has the same. */
enum { IPC_LOCK = 14, NET_ADMIN = 12, SYS_ADMIN = 21, SYS_NICE = 23, SYS_RESOURCE = 24 };

static bool holds(unsigned int capability)
{
	char status[8192], *at = NULL;

	if (procfile_text(NULL, "/proc/self/status", status, sizeof(status)) > 0)
		at = strstr(status, "CapEff:");
	return at && strtoull(at + strlen("CapEff:"), NULL, 16) >> capability & 1;
}

static bool look_trial(const struct check *check, struct checkup *entry)
{
	struct err err = {0};
	int r = tryout(check->trial, check->path, &err);

	return say(entry, !r, "%s",
		   r		      ? err.text
		   : holds(SYS_ADMIN) ? "works"
				      : "works in a user namespace");
}

static bool look_command(const struct check *check, struct checkup *entry)
{
	const char *path = getenv("PATH");
	char dirs[4096], file[4096 + 64], *rest = dirs, *dir;

	/* A user's PATH often lacks the folders of the administrator's tools. */
	snprintf(dirs, sizeof(dirs), "%s:/usr/local/sbin:/usr/sbin:/sbin", path ? path : "");
	while ((dir = strsep(&rest, ":"))) {
		snprintf(file, sizeof(file), "%s/%s", dir, check->path);
		if (*dir && !access(file, X_OK))
			return say(entry, true, "%s", file);
	}
	return say(entry, false, "not installed");
}

static bool look_capability(const struct check *check, struct checkup *entry)
{
	bool held = holds((unsigned int)check->arg);

	return say(entry, held, "%s", held ? "held" : "not held");
}

/* A limit does not bind who may exceed it. */
static bool look_limit(const struct check *check, struct checkup *entry, int which,
		       unsigned int exempt)
{
	struct rlimit limit;

	if (getrlimit(which, &limit))
		return say(entry, false, "%s", strerror(errno));
	if (limit.rlim_max == RLIM_INFINITY)
		return say(entry, true, "unlimited");
	return say(entry, limit.rlim_max >= check->arg || holds(exempt), "at most %" PRIu64 "%s",
		   (uint64_t)limit.rlim_max, holds(exempt) ? ", can be raised" : "");
}

static bool look_files(const struct check *check, struct checkup *entry)
{
	return look_limit(check, entry, RLIMIT_NOFILE, SYS_RESOURCE);
}

static bool look_memlock(const struct check *check, struct checkup *entry)
{
	return look_limit(check, entry, RLIMIT_MEMLOCK, IPC_LOCK);
}

static bool look_number(const struct check *check, struct checkup *entry)
{
	int64_t value;
	int r = procfile_number(NULL, check->path, 10, &value);

	if (r)
		return say(entry, true, "not shown by this kernel");
	return say(entry, value >= (int64_t)check->arg, "%" PRId64, value);
}

static bool look_loose(const struct check *check, struct checkup *entry)
{
	int64_t value;
	int r = procfile_number(NULL, check->path, 10, &value);

	if (r)
		return say(entry, true, "not shown by this kernel");
	return say(entry, value != 1, "%" PRId64, value);
}

static bool look_governor(const struct check *check, struct checkup *entry)
{
	char text[64];

	if (procfile_text(NULL, check->path, text, sizeof(text)) < 0)
		return say(entry, true, "not shown by this machine");
	return say(entry, !strcmp(text, "performance"), "%s", text);
}

static bool look_clocksource(const struct check *check, struct checkup *entry)
{
	static const char *const slow[] = {"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"};
	char text[64];

	if (procfile_text(NULL, check->path, text, sizeof(text)) < 0)
		return say(entry, true, "not shown by this machine");
	say(entry, true, "%s", text);
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
		if (!strcmp(slow[i], text))
			return false;
	return true;
}

/* The fingerprint's fact of the name in path; more than "none" is not fine. */
static bool look_debug(const struct check *check, struct checkup *entry)
{
	struct fact *facts = NULL;
	const char *value = "none";
	size_t n = 0;
	bool fine;

	fingerprint_read(NULL, &facts, &n, NULL);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(facts[i].name, check->path))
			value = facts[i].value;
	fine = say(entry, !strcmp(value, "none"), "%s", value);
	while (n) {
		free(facts[--n].name);
		free(facts[n].value);
	}
	free(facts);
	return fine;
}

#define TRY(title, function, how, must, what)                                            \
	{                                                                                \
		.group = "kernel", .name = title, .look = look_trial, .trial = function, \
		.unless = how, .vital = must, .remedy = what                             \
	}
/* The kernel's part of a filter: the filter itself is tried. */
#define FILTER(title, words, what)                                                          \
	{                                                                                   \
		.group = "filters", .name = title, .look = look_trial, .trial = try_filter, \
		.path = words, .unless = HEALTH_MISSING, .remedy = what                     \
	}
/* What tunnels will need. */
#define LATER(title, function, what)                                                    \
	{                                                                               \
		.group = "later", .name = title, .look = look_trial, .trial = function, \
		.unless = HEALTH_ABSENT, .remedy = what                                 \
	}
#define TOOL(command, what)                                                               \
	{                                                                                 \
		.group = "tools", .name = command, .look = look_command, .path = command, \
		.unless = HEALTH_MISSING, .remedy = what                                  \
	}
#define CAP(title, number, what)                                                              \
	{                                                                                     \
		.group = "privileges", .name = title, .look = look_capability, .arg = number, \
		.unless = HEALTH_WARN, .remedy = what                                         \
	}
#define LOOK(in, title, function, file, least, what)                                      \
	{                                                                                 \
		.group = in, .name = title, .look = function, .path = file, .arg = least, \
		.unless = HEALTH_WARN, .remedy = what                                     \
	}

static const struct check checks[] = {
	TRY("network namespaces", try_enter, HEALTH_MISSING, true,
	    "run as root, or allow user namespaces: sysctl user.max_user_namespaces=10000"),
	TRY("veth link", try_veth, HEALTH_MISSING, true, "a kernel with CONFIG_VETH"),
	TRY("veth queues", try_queues, HEALTH_MISSING, false, "Linux 5.15 or newer"),
	TRY("user namespaces", try_user, HEALTH_WARN, false,
	    "only needed without root: sysctl kernel.unprivileged_userns_clone=1"),
	LOOK("kernel", "debug options", look_debug, "debug_options", 0,
	     "measure on a kernel built without them: they cost time"),
	TOOL("iperf3", "apt-get install iperf3 (only for `make bench`)"),
	CAP("CAP_NET_ADMIN", NET_ADMIN, "run as root (sudo)"),
	CAP("CAP_SYS_ADMIN", SYS_ADMIN, "run as root (sudo)"),
	CAP("CAP_SYS_NICE", SYS_NICE, "run as root (sudo)"),
	LOOK("privileges", "open files", look_files, NULL, 65536,
	     "for labs of over 1000 nodes: ulimit -Hn 65536"),
	LOOK("privileges", "locked memory", look_memlock, NULL, 64 << 20,
	     "run as root, or: ulimit -Hl unlimited"),
	LOOK("sysctls", "net.core.rmem_max", look_number, "/proc/sys/net/core/rmem_max", 212992,
	     "sysctl net.core.rmem_max=8388608"),
	LOOK("sysctls", "net.core.wmem_max", look_number, "/proc/sys/net/core/wmem_max", 212992,
	     "sysctl net.core.wmem_max=8388608"),
	LOOK("sysctls", "rp_filter", look_loose, "/proc/sys/net/ipv4/conf/all/rp_filter", 0,
	     "nothing to do: labs turn it off in their own nodes"),
	LOOK("machine", "governor", look_governor,
	     "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", 0,
	     "cpupower frequency-set -g performance"),
	LOOK("machine", "clocksource", look_clocksource,
	     "/sys/devices/system/clocksource/clocksource0/current_clocksource", 0,
	     "boot with tsc=reliable, or leave the machine with the slow clock"),
	{.group = "frames",
	 .name = "xdp live frames",
	 .look = look_trial,
	 .trial = try_live_frames,
	 .unless = HEALTH_MISSING,
	 .remedy = "run as root on Linux 5.18 or newer, for the load 'frames' at full speed"},
	FILTER("xdp", "xdp", "run as root on a kernel with CONFIG_BPF_SYSCALL"),
	FILTER("generic xdp", "xdp-generic", "run as root on a kernel with CONFIG_BPF_SYSCALL"),
	FILTER("tcx", "tcx", "run as root on Linux 6.6 or newer"),
	FILTER("cls_bpf", "tc-bpf", "a kernel with CONFIG_NET_CLS_BPF: modprobe cls_bpf"),
	FILTER("cls_u32, act_gact", "tc-u32",
	       "a kernel with CONFIG_NET_CLS_U32 and CONFIG_NET_ACT_GACT: modprobe -a cls_u32 "
	       "act_gact"),
	FILTER("cls_flower, act_gact", "tc-flower",
	       "a kernel with CONFIG_NET_CLS_FLOWER and CONFIG_NET_ACT_GACT: modprobe -a "
	       "cls_flower act_gact"),
	FILTER("nf_tables", "nft-input", "a kernel with CONFIG_NF_TABLES_INET: modprobe nf_tables"),
	FILTER("nft ingress", "nft-ingress",
	       "a kernel with CONFIG_NF_TABLES_NETDEV and CONFIG_NETFILTER_INGRESS"),
	FILTER("conntrack", "nft-forward,conntrack=tracked",
	       "a kernel with CONFIG_NF_CONNTRACK and CONFIG_NFT_CT: modprobe nft_ct"),
	FILTER("nat", "nft-forward,conntrack=masquerade",
	       "a kernel with CONFIG_NFT_MASQ: modprobe nft_masq"),
	FILTER("flowtable", "nft-forward,conntrack=tracked,flowtable=yes",
	       "a kernel with CONFIG_NFT_FLOW_OFFLOAD and CONFIG_NF_FLOW_TABLE_INET: modprobe "
	       "nft_flow_offload"),
	LATER("tun", try_tun, "a kernel with CONFIG_TUN: modprobe tun"),
	LATER("wireguard", try_wireguard, "a kernel with CONFIG_WIREGUARD: modprobe wireguard"),
};

size_t checkup_run(struct checkup *list, size_t room)
{
	size_t n = sizeof(checks) / sizeof(checks[0]);

	n = n < room ? n : room;
	for (size_t i = 0; i < n; i++) {
		const struct check *check = &checks[i];
		struct checkup *entry = &list[i];

		*entry = (struct checkup){
			.group = check->group, .name = check->name, .vital = check->vital};
		entry->health = check->look(check, entry) ? HEALTH_OK : check->unless;
		entry->remedy = entry->health == HEALTH_OK ? NULL : check->remedy;
	}
	return n;
}
