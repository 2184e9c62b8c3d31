/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sysctls of a node. */
#include "topo/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

struct sysctl {
	const char *path, *value;
	bool optional; /* some supported kernels lack it */
};

/*
 * A new namespace copies much of the host's IPv4 settings, so everything that could change what
 * packets do is stated here. Hop limits are as large as they can be: a chain of 200 routers is a
 * legal lab. Fragments wait one second, so a ledger closes soon after the load has stopped.
 */
static const struct sysctl quiet4[] = {
	{"ip_forward", "0", false},
	{"conf/all/rp_filter", "0", false},
	{"conf/default/rp_filter", "0", false},
	{"conf/all/accept_redirects", "0", false},
	{"conf/default/accept_redirects", "0", false},
	{"conf/all/send_redirects", "0", false},
	{"conf/default/send_redirects", "0", false},
	{"conf/all/arp_ignore", "0", false},
	{"conf/default/arp_ignore", "0", false},
	{"conf/all/log_martians", "0", false},
	{"conf/default/log_martians", "0", false},
	{"icmp_echo_ignore_all", "0", false},
	{"ip_default_ttl", "255", false},
	{"ipfrag_time", "1", false},
};

static const struct sysctl quiet6[] = {
	{"conf/all/disable_ipv6", "0", false},
	{"conf/default/disable_ipv6", "0", false},
	{"conf/all/addr_gen_mode", "1", true},
	{"conf/default/addr_gen_mode", "1", true},
	{"conf/all/accept_dad", "0", false},
	{"conf/default/accept_dad", "0", false},
	{"conf/all/accept_ra", "0", false},
	{"conf/default/accept_ra", "0", false},
	{"conf/all/accept_redirects", "0", false},
	{"conf/default/accept_redirects", "0", false},
	{"conf/all/hop_limit", "255", false},
	{"conf/default/hop_limit", "255", false},
	{"ip6frag_time", "1", false},
};

static const struct sysctl forward4[] = {
	{"ip_forward", "1", false},
	/* A change of ip_forward resets this one. */
	{"conf/all/accept_redirects", "0", false},
};

static const struct sysctl forward6[] = {
	{"conf/all/forwarding", "1", false},
};

enum { NODES_PER_PROC = 16 };

/* A proc file system that is mounted nowhere (Linux 5.8), or -1. */
static int open_own_proc(void)
{
	int fs = fsopen("proc", FSOPEN_CLOEXEC), proc = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		proc = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return proc;
}

static int use_source(struct sysctl_source *source, struct err *err)
{
	if (!source->uses)
		sysctl_source_release(source);
	if (source->proc < 0) {
		source->uses = NODES_PER_PROC;
		source->proc = open_own_proc();
	}
	if (source->proc < 0)
		source->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (source->proc < 0)
		return err_sys(err, errno, "cannot open '/proc'");
	source->uses--;
	return 0;
}

void sysctl_source_release(struct sysctl_source *source)
{
	if (source->proc >= 0)
		close(source->proc);
	source->proc = -1;
}

static int write_one(int dir, const char *dir_name, const char *node, const struct sysctl *sysctl,
		     struct err *err)
{
	size_t len = strlen(sysctl->value);
	int fd = openat(dir, sysctl->path, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0 || write(fd, sysctl->value, len) != (ssize_t)len)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (rc == -ENOENT && sysctl->optional)
		return 0;
	if (rc)
		return err_sys(err, -rc, "cannot write '%s' to '/proc/%s/%s' in node '%s'",
			       sysctl->value, dir_name, sysctl->path, node);
	return 0;
}

static int write_list(const struct sysctl_source *source, const char *dir_name, const char *node,
		      const struct sysctl *list, size_t n, struct err *err)
{
	int dir = openat(source->proc, dir_name, O_PATH | O_DIRECTORY | O_CLOEXEC), rc = 0;
	size_t i;

	if (dir < 0)
		return err_sys(err, errno, "cannot open '/proc/%s'", dir_name);
	for (i = 0; i < n && !rc; i++)
		rc = write_one(dir, dir_name, node, &list[i], err);
	close(dir);
	return rc;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool sysctl_has_inet6(void)
{
	return !access("/proc/sys/net/ipv6/conf", F_OK);
}

int sysctl_quiet(struct sysctl_source *source, const char *node, bool inet6, struct err *err)
{
	int rc = use_source(source, err);

	if (!rc)
		rc = write_list(source, "sys/net/ipv4", node, quiet4, COUNT(quiet4), err);
	if (!rc && inet6)
		rc = write_list(source, "sys/net/ipv6", node, quiet6, COUNT(quiet6), err);
	return rc;
}

int sysctl_forward(struct sysctl_source *source, const char *node, bool inet6, struct err *err)
{
	int rc = use_source(source, err);

	if (!rc)
		rc = write_list(source, "sys/net/ipv4", node, forward4, COUNT(forward4), err);
	if (!rc && inet6)
		rc = write_list(source, "sys/net/ipv6", node, forward6, COUNT(forward6), err);
	return rc;
}
