/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns links: how veth pairs are born and set up. */
#include "topo/link.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/veth.h>
#include <time.h>

/*
 * IFF_NOARP: neighbours are permanent, so nobody must ask; it also keeps IPv6 from joining the
 * solicited-node groups. IFF_MULTICAST off: IPv6 routers do not join the all-routers groups. With
 * both, an idle link carries not a single packet, and a counter that moved was moved by a load.
 * (A user who wants multicast routing in a lab says `ip link set dev IF multicast on`.)
 */
enum { BORN_WITH = IFF_NOARP, BORN_MASK = IFF_NOARP | IFF_MULTICAST };

static void put_end(struct nlmsghdr *nlh, const struct end *end, const struct link_spec *spec,
		    int netns)
{
	mnl_attr_put_strz(nlh, IFLA_IFNAME, end->ifname);
	mnl_attr_put(nlh, IFLA_ADDRESS, sizeof(end->mac), end->mac);
	mnl_attr_put_u32(nlh, IFLA_MTU, (uint32_t)spec->mtu);
	/* Without these the kernel makes one queue, or one per CPU, depending on its age. */
	mnl_attr_put_u32(nlh, IFLA_NUM_TX_QUEUES, (uint32_t)spec->queues);
	mnl_attr_put_u32(nlh, IFLA_NUM_RX_QUEUES, (uint32_t)spec->queues);
	mnl_attr_put_u32(nlh, IFLA_NET_NS_FD, (uint32_t)netns);
}

static void fill(struct ifinfomsg *ifi, int ifindex, unsigned int flags, unsigned int mask)
{
	ifi->ifi_family = AF_UNSPEC;
	ifi->ifi_index = ifindex;
	ifi->ifi_flags = flags;
	ifi->ifi_change = mask;
}

void link_put_veth(struct nl_batch *batch, const struct wire *wire, const struct link_spec *spec,
		   const int netns[2])
{
	struct nlmsghdr *nlh =
		nl_put(batch, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, "create link", wire->name);
	struct nlattr *info, *data, *peer;
	struct ifinfomsg *ifi;

	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	/* The second end cannot be born up: it does not know its peer yet. */
	fill(ifi, wire->end[0].ifindex, BORN_WITH | IFF_UP, BORN_MASK | IFF_UP);
	put_end(nlh, &wire->end[0], spec, netns[0]);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(nlh, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(nlh, VETH_INFO_PEER);
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	fill(ifi, wire->end[1].ifindex, BORN_WITH, BORN_MASK);
	put_end(nlh, &wire->end[1], spec, netns[1]);
	mnl_attr_nest_end(nlh, peer);
	mnl_attr_nest_end(nlh, data);
	mnl_attr_nest_end(nlh, info);
}

void link_put_up(struct nl_batch *batch, int ifindex, const char *ifname)
{
	struct nlmsghdr *nlh = nl_put(batch, RTM_NEWLINK, 0, "set up", ifname);

	fill(mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg)), ifindex, IFF_UP, IFF_UP);
}

static int read_operstate(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attr) == IFLA_OPERSTATE &&
		    mnl_attr_validate(attr, MNL_TYPE_U8) >= 0)
			*(unsigned int *)data = mnl_attr_get_u8(attr);
	}
	return MNL_CB_OK;
}

/*
 * Until the kernel's link watcher has run, a device whose carrier came on after it was set up
 * still has the queue that drops everything. Since Linux 6.8 asking for the link makes the watcher
 * run first, so the first look is the last; before, it has to be repeated.
 */
int link_wait_up(struct nl *nl, int ifindex, const char *ifname, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 200000};
	unsigned int state, tries;
	char buf[256];
	struct nlmsghdr *nlh;
	int rc;

	for (tries = 0; tries < 25000; tries++) {
		state = IF_OPER_UNKNOWN;
		nlh = mnl_nlmsg_put_header(buf);
		nlh->nlmsg_type = RTM_GETLINK;
		fill(mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg)), ifindex, 0, 0);
		mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
		rc = nl_query(nl, nlh, read_operstate, NULL, &state, "watch", ifname, err);
		if (rc || state == IF_OPER_UP)
			return rc;
		nanosleep(&pause, NULL);
	}
	return err_set(err, ETIMEDOUT, "link '%s' in node '%s' does not come up", ifname, nl->node);
}
