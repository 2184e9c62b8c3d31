/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns addresses of interfaces. */
#include "topo/addr.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <time.h>

void addr_put(struct nl_batch *batch, const struct wire *wire, unsigned int side, int family)
{
	const struct end *end = &wire->end[side];
	struct nlmsghdr *nlh =
		nl_put(batch, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL,
		       family == AF_INET ? "set the IPv4 address of" : "set the IPv6 address of",
		       end->ifname);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));

	ifa->ifa_family = (unsigned char)family;
	ifa->ifa_index = (unsigned int)end->ifindex;
	ifa->ifa_scope = RT_SCOPE_UNIVERSE;
	if (family == AF_INET) {
		ifa->ifa_prefixlen = wire->prefix;
		mnl_attr_put(nlh, IFA_LOCAL, 4, &end->addr);
		mnl_attr_put(nlh, IFA_ADDRESS, 4, &end->addr);
	} else {
		ifa->ifa_prefixlen = wire->prefix6;
		ifa->ifa_flags = IFA_F_NODAD;
		mnl_attr_put(nlh, IFA_LOCAL, 16, &end->addr6);
	}
}

static int read_type(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);

	*(unsigned int *)data = rtm->rtm_type;
	return MNL_CB_OK;
}

/*
 * The kernel installs the route to an own IPv6 address in the background, at the end of duplicate
 * address detection, even when there is none to do. Until then packets for it are refused.
 */
int addr_wait6(struct nl *nl, const struct end *end, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 200000};
	unsigned int type, tries;
	struct nlmsghdr *nlh;
	struct rtmsg *rtm;
	char buf[256];
	int rc;

	for (tries = 0; tries < 25000; tries++) {
		type = RTN_UNSPEC;
		nlh = mnl_nlmsg_put_header(buf);
		nlh->nlmsg_type = RTM_GETROUTE;
		rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
		rtm->rtm_family = AF_INET6;
		rtm->rtm_dst_len = 128;
		mnl_attr_put(nlh, RTA_DST, 16, &end->addr6);
		/* As for a packet that comes in: for one that goes out, the kernel would also
		 * choose a source, and walk over all addresses of the node to do so. */
		mnl_attr_put_u32(nlh, RTA_IIF, (uint32_t)end->ifindex);
		rc = nl_query(nl, nlh, read_type, NULL, &type, "look up the IPv6 address of",
			      end->ifname, err);
		if (rc || type == RTN_LOCAL)
			return rc;
		nanosleep(&pause, NULL);
	}
	return err_set(err, ETIMEDOUT, "the IPv6 address of '%s' in node '%s' does not come up",
		       end->ifname, nl->node);
}
