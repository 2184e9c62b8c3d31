/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the trials of kernel features. */
#include "topo/feature.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "topo/nl.h"

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* Root inside, the caller outside. */
static int map_ids(uid_t uid, gid_t gid)
{
	char map[32];
	int r;

	r = write_text("/proc/self/setgroups", "deny");
	if (r && r != -ENOENT)
		return r;
	snprintf(map, sizeof(map), "0 %u 1", uid);
	r = write_text("/proc/self/uid_map", map);
	if (r)
		return r;
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return write_text("/proc/self/gid_map", map);
}

int feature_enter(struct err *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;

	if (!unshare(CLONE_NEWNET))
		return 0;
	if (errno != EPERM)
		return err_sys(err, errno, "cannot make a network namespace");
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return err_sys(err, errno, "cannot make a user namespace");
	r = map_ids(uid, gid);
	return r ? err_sys(err, r, "cannot map the user into a user namespace") : 0;
}

/* Only the code counts: callers have a sentence of their own. */
static int ask(int bus, struct nlmsghdr *nlh)
{
	struct nl nl;
	int r = nl_open_bus(&nl, bus, "", NULL);

	if (r)
		return r;
	r = nl_query(&nl, nlh, NULL, NULL, NULL, "ask", "kernel", NULL);
	nl_close(&nl);
	return r;
}

int feature_link(const char *kind, struct err *err)
{
	union {
		struct nlmsghdr align;
		char bytes[8192];
	} buf;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&buf);
	struct ifinfomsg *ifi;
	char name[IFNAMSIZ];
	struct nlattr *info;
	int r;

	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_family = AF_UNSPEC;
	snprintf(name, sizeof(name), "t-%.12s", kind);
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, kind);
	mnl_attr_nest_end(nlh, info);
	r = ask(NETLINK_ROUTE, nlh);
	if (r == -EOPNOTSUPP)
		return err_set(err, EOPNOTSUPP, "the kernel has no '%s'", kind);
	return r ? err_sys(err, r, "cannot make a '%s' link", kind) : 0;
}

int feature_nft(struct err *err)
{
	union {
		struct nlmsghdr align;
		char bytes[8192];
	} buf;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&buf);
	struct nfgenmsg *nfg;
	int r;

	nlh->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	r = ask(NETLINK_NETFILTER, nlh);
	/* No netfilter netlink at all, or no nf_tables behind it. */
	if (r == -EPROTONOSUPPORT || r == -EINVAL || r == -EOPNOTSUPP)
		return err_set(err, EOPNOTSUPP, "the kernel has no nf_tables");
	return r ? err_sys(err, r, "cannot ask nf_tables") : 0;
}

int feature_tun(struct err *err)
{
	struct ifreq ifr = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC), r = 0;

	if (fd < 0)
		return err_sys(err, errno, "cannot open '/dev/net/tun'");
	if (ioctl(fd, TUNSETIFF, &ifr))
		r = err_sys(err, errno, "cannot make a tun device");
	close(fd);
	return r;
}

/* r0 = XDP_DROP; exit. Returns the program's fd or -errno. */
static int load_drop(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {0};
	long fd;

	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t) "GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

int feature_live_frames(struct err *err)
{
	char frame[60] = {0};
	union bpf_attr attr = {0};
	int fd = load_drop(), r = 0;

	if (fd < 0)
		return err_sys(err, fd, "cannot load an XDP program");
	attr.test.prog_fd = fd;
	attr.test.data_in = (uintptr_t)frame;
	attr.test.data_size_in = sizeof(frame);
	attr.test.repeat = 1;
	attr.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)))
		r = errno == EINVAL ? err_set(err, EOPNOTSUPP, "needs Linux 5.18")
				    : err_sys(err, errno, "cannot run an XDP program on frames");
	close(fd);
	return r;
}
