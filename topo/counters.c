/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the counters of links and nodes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo/conntrack.h"
#include "topo/node.h"
#include "topo/plan.h"

static int read_stats(const struct nlmsghdr *nlh, void *data)
{
	struct link_counters *ret = data;
	struct rtnl_link_stats64 stats = {0};
	const struct nlattr *attr;
	size_t len;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attr) != IFLA_STATS64)
			continue;
		/* Newer kernels append fields, older ones lack some; and alignment is only 4. */
		len = mnl_attr_get_payload_len(attr);
		memcpy(&stats, mnl_attr_get_payload(attr),
		       len < sizeof(stats) ? len : sizeof(stats));
	}
	*ret = (struct link_counters){
		.rx_packets = stats.rx_packets,
		.tx_packets = stats.tx_packets,
		.rx_bytes = stats.rx_bytes,
		.tx_bytes = stats.tx_bytes,
		.rx_errors = stats.rx_errors,
		.tx_errors = stats.tx_errors,
		.rx_dropped = stats.rx_dropped,
		.tx_dropped = stats.tx_dropped,
	};
	return MNL_CB_OK;
}

struct qdisc_query {
	int ifindex;
	uint64_t dropped;
};

static void restart_qdisc(void *data)
{
	((struct qdisc_query *)data)->dropped = 0;
}

static int read_queue(const struct nlattr *attr, void *data)
{
	struct gnet_stats_queue queue;

	if (mnl_attr_get_type(attr) == TCA_STATS_QUEUE &&
	    mnl_attr_get_payload_len(attr) >= sizeof(queue)) {
		memcpy(&queue, mnl_attr_get_payload(attr), sizeof(queue));
		((struct qdisc_query *)data)->dropped = queue.drops;
	}
	return MNL_CB_OK;
}

/* The root only: a classful or multiqueue root adds up its children itself. */
static int read_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct qdisc_query *query = data;
	const struct nlattr *attr;

	if (tcm->tcm_ifindex != query->ifindex || tcm->tcm_parent != TC_H_ROOT)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*tcm))
	{
		if (mnl_attr_get_type(attr) == TCA_STATS2)
			mnl_attr_parse_nested(attr, read_queue, query);
	}
	return MNL_CB_OK;
}

int lab_link_counters(struct lab *lab, size_t link, unsigned int side, struct link_counters *ret,
		      struct err *err)
{
	const struct end *end = &lab->plan->wires[link].end[side];
	struct qdisc_query query = {.ifindex = end->ifindex};
	struct nl *nl = &lab->nodes[end->node].nl;
	struct link_counters counters = {0};
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh;
	struct tcmsg *tcm;
	char buf[256];
	int rc;

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETLINK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = end->ifindex;
	rc = nl_query(nl, nlh, read_stats, NULL, &counters, "read the counters of", end->ifname,
		      err);
	if (rc)
		return rc;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETQDISC;
	nlh->nlmsg_flags = NLM_F_DUMP;
	tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = end->ifindex;
	rc = nl_query(nl, nlh, read_qdisc, restart_qdisc, &query, "read the queue of", end->ifname,
		      err);
	if (rc)
		return rc;
	counters.qdisc_dropped = query.dropped;
	*ret = counters;
	return 0;
}

/* Where a kernel counter goes. Names are those of /proc/net/snmp ("Ip" …) and /proc/net/snmp6. */
static const struct {
	const char *group4, *name4, *name6;
	size_t offset;
} fields[] = {
#define FIELD(member, group4, name4, name6)                                  \
	{                                                                    \
		group4, name4, name6, offsetof(struct node_counters, member) \
	}
	FIELD(ip_in_discards, "Ip", "InDiscards", "Ip6InDiscards"),
	FIELD(ip_out_discards, "Ip", "OutDiscards", "Ip6OutDiscards"),
	FIELD(ip_in_hdr_errors, "Ip", "InHdrErrors", "Ip6InHdrErrors"),
	FIELD(ip_in_addr_errors, "Ip", "InAddrErrors", "Ip6InAddrErrors"),
	FIELD(ip_out_no_routes, "Ip", "OutNoRoutes", "Ip6OutNoRoutes"),
	FIELD(ip_in_unknown_protos, "Ip", "InUnknownProtos", "Ip6InUnknownProtos"),
	FIELD(ip_reasm_fails, "Ip", "ReasmFails", "Ip6ReasmFails"),
	FIELD(ip_frag_fails, "Ip", "FragFails", "Ip6FragFails"),
	FIELD(ip_frag_creates, "Ip", "FragCreates", "Ip6FragCreates"),
	FIELD(udp_no_ports, "Udp", "NoPorts", "Udp6NoPorts"),
	FIELD(udp_in_errors, "Udp", "InErrors", "Udp6InErrors"),
	FIELD(udp_rcvbuf_errors, "Udp", "RcvbufErrors", "Udp6RcvbufErrors"),
	FIELD(udp_sndbuf_errors, "Udp", "SndbufErrors", "Udp6SndbufErrors"),
	FIELD(udp_csum_errors, "Udp", "InCsumErrors", "Udp6InCsumErrors"),
	FIELD(udp_mem_errors, "Udp", "MemErrors", "Udp6MemErrors"),
	FIELD(udp_in_datagrams, "Udp", "InDatagrams", "Udp6InDatagrams"),
	FIELD(udp_out_datagrams, "Udp", "OutDatagrams", "Udp6OutDatagrams"),
	FIELD(tcp_retrans_segs, "Tcp", "RetransSegs", NULL),
#undef FIELD
};

static void add(struct node_counters *counters, const char *group4, const char *name,
		const char *value)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const char *want = group4 ? fields[i].name4 : fields[i].name6;

		if (!want || strcmp(want, name) || (group4 && strcmp(fields[i].group4, group4)))
			continue;
		*(uint64_t *)((char *)counters + fields[i].offset) += strtoull(value, NULL, 10);
	}
}

/* Pairs of lines: "Ip: NAME NAME …" and "Ip: VALUE VALUE …". */
static void parse_snmp(char *text, struct node_counters *counters)
{
	char *names, *values, *name, *value, *n_save, *v_save, *save;

	for (names = strtok_r(text, "\n", &save); names; names = strtok_r(NULL, "\n", &save)) {
		const char *group;

		values = strtok_r(NULL, "\n", &save);
		if (!values)
			return;
		group = strtok_r(names, ": ", &n_save);
		strtok_r(values, ": ", &v_save);
		while (group && (name = strtok_r(NULL, " ", &n_save)) &&
		       (value = strtok_r(NULL, " ", &v_save)))
			add(counters, group, name, value);
	}
}

static void parse_snmp6(char *text, struct node_counters *counters)
{
	char *name, *value, *save;

	for (name = strtok_r(text, " \t\n", &save); name; name = strtok_r(NULL, " \t\n", &save)) {
		value = strtok_r(NULL, " \t\n", &save);
		if (value)
			add(counters, NULL, name, value);
	}
}

static int slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	while (len < size - 1 && (got = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)got;
	buf[len] = '\0';
	close(fd);
	return got < 0 ? -errno : 0;
}

int lab_node_counters(struct lab *lab, size_t node, struct node_counters *ret, struct err *err)
{
	struct node_counters counters = {0};
	int back = netns_open_current(err), rc;
	char text[16384];
	struct err lost;

	if (back < 0)
		return back;
	rc = lab_enter(lab, node, err);
	if (rc)
		goto out;
	rc = slurp("/proc/thread-self/net/snmp", text, sizeof(text));
	if (!rc)
		parse_snmp(text, &counters);
	if (!rc && lab->inet6) {
		rc = slurp("/proc/thread-self/net/snmp6", text, sizeof(text));
		if (!rc)
			parse_snmp6(text, &counters);
	}
	conntrack_read(&counters);
	if (rc)
		err_sys(err, -rc, "cannot read the counters of node '%s'",
			lab->spec.nodes[node].name);
	else
		*ret = counters;
	if (netns_enter(back, "the namespace of the caller again", &lost) && !rc) {
		rc = -EPERM;
		if (err)
			*err = lost;
	}
out:
	close(back);
	return rc;
}
