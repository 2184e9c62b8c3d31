/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the traffic control messages: the clsact qdisc, filters, generic actions. */
#include "topo/tc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/tc_act/tc_gact.h>
#include <string.h>
#include <sys/socket.h>

/* The attribute number of a list's first element. */
enum { FIRST = 1, INDEX_TRIES = 1024 };

union request {
	struct nlmsghdr align;
	char bytes[512];
};

static struct tcmsg *put_tcmsg(struct nlmsghdr *nlh, int ifindex)
{
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	return tcm;
}

int tc_missing(int code, const char *what, const char *option, struct err *err)
{
	if (code == -ENOENT || code == -EOPNOTSUPP)
		return err_set(err, EOPNOTSUPP, "the kernel has no %s (CONFIG_%s)", what, option);
	return code;
}

int tc_clsact(struct nl *nl, int ifindex, const char *ifname, struct err *err)
{
	union request buf;
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&buf);
	struct tcmsg *tcm;
	int r;

	nlh->nlmsg_type = RTM_NEWQDISC;
	nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	tcm = put_tcmsg(nlh, ifindex);
	tcm->tcm_parent = TC_H_CLSACT;
	tcm->tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
	mnl_attr_put_strz(nlh, TCA_KIND, "clsact");
	r = nl_query(nl, nlh, NULL, NULL, NULL, "add a clsact qdisc to", ifname, err);
	return r == -EEXIST ? 0 : r;
}

struct tc_filter tc_put_filter(struct nl_batch *batch, int ifindex, const char *ifname,
			       const char *kind, uint16_t protocol, uint16_t priority)
{
	struct nlmsghdr *nlh =
		nl_put(batch, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, "add a filter to", ifname);
	struct tcmsg *tcm = put_tcmsg(nlh, ifindex);

	tcm->tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS);
	tcm->tcm_info = TC_H_MAKE((uint32_t)priority << 16, htons(protocol));
	mnl_attr_put_strz(nlh, TCA_KIND, kind);
	return (struct tc_filter){nlh, mnl_attr_nest_start(nlh, TCA_OPTIONS)};
}

void tc_end_filter(const struct tc_filter *filter)
{
	mnl_attr_nest_end(filter->nlh, filter->options);
}

static struct nlmsghdr *start_action(union request *buf, uint16_t type)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcamsg *tca;

	nlh->nlmsg_type = type;
	tca = mnl_nlmsg_put_extra_header(nlh, sizeof(*tca));
	tca->tca_family = AF_UNSPEC;
	return nlh;
}

static void put_gact(struct nlmsghdr *nlh, uint16_t attr, uint32_t index, int verdict)
{
	const struct tc_gact gact = {.index = index, .action = verdict};
	struct nlattr *list = mnl_attr_nest_start(nlh, attr);
	struct nlattr *action = mnl_attr_nest_start(nlh, FIRST), *options;

	mnl_attr_put_strz(nlh, TCA_ACT_KIND, "gact");
	options = mnl_attr_nest_start(nlh, TCA_ACT_OPTIONS);
	mnl_attr_put(nlh, TCA_GACT_PARMS, sizeof(gact), &gact);
	mnl_attr_nest_end(nlh, options);
	mnl_attr_nest_end(nlh, action);
	mnl_attr_nest_end(nlh, list);
}

/* Indexes belong to the namespace, so that each action can have one of its own. */
int tc_gact_new(struct nl *nl, int verdict, uint32_t *ret_index, struct err *err)
{
	int r = -EEXIST;

	for (uint32_t index = 1; r == -EEXIST && index <= INDEX_TRIES; index++) {
		union request buf;
		struct nlmsghdr *nlh = start_action(&buf, RTM_NEWACTION);

		nlh->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
		put_gact(nlh, TCA_ACT_TAB, index, verdict);
		r = nl_query(nl, nlh, NULL, NULL, NULL, "add the action", "gact", err);
		if (!r)
			*ret_index = index;
	}
	return r;
}

/* An index that is there already is bound to; its verdict stays. */
void tc_put_gact(struct nlmsghdr *nlh, uint16_t attr, uint32_t index)
{
	put_gact(nlh, attr, index, 0);
}

/* The attribute of this type inside another, or NULL. */
static const struct nlattr *inside(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	if (nest)
		mnl_attr_for_each_nested(attr,
					 nest) if (mnl_attr_get_type(attr) == type) return attr;
	return NULL;
}

/* The 64-bit count is there only when the other one overflows. */
static int take_packets(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *stats, *basic, *wide;
	struct gnet_stats_basic count;
	uint64_t *packets = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct tcamsg))
	{
		if (mnl_attr_get_type(attr) != TCA_ACT_TAB)
			continue;
		stats = inside(inside(attr, FIRST), TCA_ACT_STATS);
		basic = inside(stats, TCA_STATS_BASIC);
		wide = inside(stats, TCA_STATS_PKT64);
		if (wide && mnl_attr_get_payload_len(wide) == sizeof(*packets)) {
			memcpy(packets, mnl_attr_get_payload(wide), sizeof(*packets));
		} else if (basic && mnl_attr_get_payload_len(basic) >= sizeof(count)) {
			memcpy(&count, mnl_attr_get_payload(basic), sizeof(count));
			*packets = count.packets;
		}
	}
	return MNL_CB_OK;
}

int tc_gact_packets(struct nl *nl, uint32_t index, uint64_t *ret, struct err *err)
{
	const uint64_t unknown = UINT64_MAX;
	uint64_t packets = unknown;
	union request buf;
	struct nlmsghdr *nlh = start_action(&buf, RTM_GETACTION);
	struct nlattr *list = mnl_attr_nest_start(nlh, TCA_ACT_TAB);
	struct nlattr *action = mnl_attr_nest_start(nlh, FIRST);
	int r;

	mnl_attr_put_strz(nlh, TCA_ACT_KIND, "gact");
	mnl_attr_put_u32(nlh, TCA_ACT_INDEX, index);
	mnl_attr_nest_end(nlh, action);
	mnl_attr_nest_end(nlh, list);
	r = nl_query(nl, nlh, take_packets, NULL, &packets, "read the action", "gact", err);
	if (r)
		return r;
	if (packets == unknown)
		return err_set(err, EPROTO, "the kernel reports no packets of the action 'gact'");
	*ret = packets;
	return 0;
}
