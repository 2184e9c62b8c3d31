/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sysctls of a node. */
#include "topo/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
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
	{"ipv4/ip_forward", "0", false},
	{"ipv4/conf/all/rp_filter", "0", false},
	{"ipv4/conf/default/rp_filter", "0", false},
	{"ipv4/conf/all/accept_redirects", "0", false},
	{"ipv4/conf/default/accept_redirects", "0", false},
	{"ipv4/conf/all/send_redirects", "0", false},
	{"ipv4/conf/default/send_redirects", "0", false},
	{"ipv4/conf/all/arp_ignore", "0", false},
	{"ipv4/conf/default/arp_ignore", "0", false},
	{"ipv4/conf/all/log_martians", "0", false},
	{"ipv4/conf/default/log_martians", "0", false},
	{"ipv4/icmp_echo_ignore_all", "0", false},
	{"ipv4/ip_default_ttl", "255", false},
	{"ipv4/ipfrag_time", "1", false},
};

static const struct sysctl quiet6[] = {
	{"ipv6/conf/all/disable_ipv6", "0", false},
	{"ipv6/conf/default/disable_ipv6", "0", false},
	{"ipv6/conf/all/addr_gen_mode", "1", true},
	{"ipv6/conf/default/addr_gen_mode", "1", true},
	{"ipv6/conf/all/accept_dad", "0", false},
	{"ipv6/conf/default/accept_dad", "0", false},
	{"ipv6/conf/all/accept_ra", "0", false},
	{"ipv6/conf/default/accept_ra", "0", false},
	{"ipv6/conf/all/accept_redirects", "0", false},
	{"ipv6/conf/default/accept_redirects", "0", false},
	{"ipv6/conf/all/hop_limit", "255", false},
	{"ipv6/conf/default/hop_limit", "255", false},
	{"ipv6/ip6frag_time", "1", false},
};

static const struct sysctl forward4[] = {
	{"ipv4/ip_forward", "1", false},
	/* A change of ip_forward resets this one. */
	{"ipv4/conf/all/accept_redirects", "0", false},
};

static const struct sysctl forward6[] = {
	{"ipv6/conf/all/forwarding", "1", false},
};

static int write_one(int base, const char *node, const struct sysctl *sysctl, struct err *err)
{
	size_t len = strlen(sysctl->value);
	int fd = openat(base, sysctl->path, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0 || write(fd, sysctl->value, len) != (ssize_t)len)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	if (rc == -ENOENT && sysctl->optional)
		return 0;
	if (rc)
		return err_sys(err, -rc, "cannot write '%s' to '/proc/sys/net/%s' in node '%s'",
			       sysctl->value, sysctl->path, node);
	return 0;
}

static int write_all(const char *node, const struct sysctl *list4, size_t n4,
		     const struct sysctl *list6, size_t n6, struct err *err)
{
	int base = open("/proc/sys/net", O_PATH | O_DIRECTORY | O_CLOEXEC), rc = 0;
	size_t i;

	if (base < 0)
		return err_sys(err, errno, "cannot open '/proc/sys/net'");
	for (i = 0; i < n4 && !rc; i++)
		rc = write_one(base, node, &list4[i], err);
	for (i = 0; i < n6 && !rc; i++)
		rc = write_one(base, node, &list6[i], err);
	close(base);
	return rc;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool sysctl_has_inet6(void)
{
	return !access("/proc/sys/net/ipv6/conf", F_OK);
}

int sysctl_quiet(const char *node, bool inet6, struct err *err)
{
	return write_all(node, quiet4, COUNT(quiet4), quiet6, inet6 ? COUNT(quiet6) : 0, err);
}

int sysctl_forward(const char *node, bool inet6, struct err *err)
{
	return write_all(node, forward4, COUNT(forward4), forward6, inet6 ? COUNT(forward6) : 0,
			 err);
}
