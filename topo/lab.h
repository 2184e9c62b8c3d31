/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lab: nodes (anonymous network namespaces) and links (veth pairs) between them.
 *
 *   struct lab_spec  what the user wrote          (typed, no privilege needed)
 *   struct lab_plan  addresses, routes, paths     (computed, no privilege needed)
 *   struct lab       the thing itself             (file descriptors; closing them frees it)
 *
 * Nothing is created in the caller's namespace. A lab dies with its process, however that ends.
 */
#ifndef TOPO_LAB_H
#define TOPO_LAB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/opt.h"
#include "topo/filter/filter.h"

enum { LAB_NODES_MAX = 4096, LAB_LINKS_MAX = 16384, NODE_NAME_MAX = 32, IF_NAME_MAX = 16 };

struct node_spec {
	char *name;   /* letters, digits, '-', '_', '.'; shorter than NODE_NAME_MAX */
	bool forward; /* a router: forwards both families */
	struct mark mark;
};

struct link_spec {
	char *name; /* NULL: "node-node" of its ends (numbered from the second such link on) */
	char *ends; /* "a:eth0,b:eth0"; the interface names may be left out */
	char *net, *net6; /* "10.0.0.0/24"; NULL: planned from 198.18.0.0/15 and 2001:2::/48 */
	uint64_t mtu, queues;
	uint64_t offloads; /* bits of offload_names; the rest is turned off */
	struct mark mark;
};

/* Options of a node and a link. name and mark are not options: they come from the YAML structure. */
extern const struct opt node_opts[], link_opts[];

struct lab_spec {
	char *name;
	struct node_spec *nodes;
	size_t n_nodes;
	struct link_spec *links;
	size_t n_links;
	struct filter_spec *filters;
	size_t n_filters;
	struct mark mark;
};

void lab_spec_release(struct lab_spec *spec);
int lab_spec_copy(struct lab_spec *dst, const struct lab_spec *src);

/* One end of a link, as planned. */
struct end {
	size_t node; /* index into spec->nodes */
	char ifname[IF_NAME_MAX];
	int ifindex; /* chosen by us, unique in the node */
	uint8_t mac[6];
	struct in_addr addr;
	struct in6_addr addr6;
};

struct wire {
	char name[2 * NODE_NAME_MAX + 8];
	struct end end[2];
	uint8_t prefix, prefix6; /* prefix lengths */
};

struct lab_plan;

/*
 * Check the spec and work out addresses, routes and paths. Errors are -EINVAL and start with the
 * mark of the node or link at fault. Deterministic: the same spec gives the same plan. The plan
 * keeps pointers into spec, which must outlive it.
 */
int lab_plan_make(const struct lab_spec *spec, struct lab_plan **ret_plan, struct err *err);
void lab_plan_free(struct lab_plan *plan);
const struct wire *lab_plan_wire(const struct lab_plan *plan, size_t link);
/* Index of the named node, or -ENOENT with a "did you mean". */
int lab_plan_node(const struct lab_plan *plan, const char *name, struct err *err);

/* One link crossed on the way: from end[side] to end[!side]. */
struct hop {
	size_t link;
	unsigned int side;
};

/*
 * The links from node `from` to node `to` that packets take (nodes between must forward).
 * Returns the number of hops written to a malloc()ed *ret_hops, or -ENETUNREACH with err.
 */
int lab_plan_path(const struct lab_plan *plan, size_t from, size_t to, struct hop **ret_hops,
		  struct err *err);
/* The smallest MTU of the n hops, in a lab of this spec; UINT64_MAX without any. */
uint64_t lab_path_mtu(const struct lab_spec *spec, const struct hop *hops, int n);
/* The address under which `from` reaches `to`, and the one it uses itself. Port 0. */
int lab_plan_addresses(const struct lab_plan *plan, size_t from, size_t to, int family,
		       struct sockaddr_storage *ret_from, struct sockaddr_storage *ret_to,
		       struct err *err);

struct lab;

/*
 * Build it: namespaces, links born in them, addresses, routes, neighbours, sysctls, offloads.
 * -EPERM when privileges are missing. lab keeps its own copy of spec. When it returns, every link is up.
 */
int lab_build(const struct lab_spec *spec, struct lab **ret_lab, struct err *err);
/* NULL is fine. The kernel frees the namespaces in the background. */
void lab_free(struct lab *lab);
const struct lab_spec *lab_spec(const struct lab *lab);
const struct lab_plan *lab_plan(const struct lab *lab);

/* The namespace fd of a node; owned by the lab. */
int lab_netns(const struct lab *lab, size_t node);
/* A close-on-exec socket born in the node; the caller owns it. Returns the fd or -errno. */
int lab_socket(struct lab *lab, size_t node, int domain, int type, int protocol, struct err *err);
/* Move the calling thread into the node, and back to where the lab was built. */
int lab_enter(struct lab *lab, size_t node, struct err *err);
int lab_leave(struct lab *lab, struct err *err);

/* A pair of nodes that must reach each other. */
struct lab_pair {
	size_t from, to;
};

/*
 * Prove that each pair is reachable: one ICMP or ICMPv6 echo of its own there and back, family
 * AF_INET or AF_INET6. Pairs run together. -EHOSTUNREACH names the first silent pair.
 */
int lab_reach(struct lab *lab, int family, const struct lab_pair *pairs, size_t n,
	      uint64_t timeout_ns, struct err *err);

/*
 * As lab_reach, from one node to every other that the plan gives a way to in this family; *ret_n is
 * how many these are.
 */
int lab_reach_all(struct lab *lab, size_t from, int family, uint64_t timeout_ns, size_t *ret_n,
		  struct err *err);

/*
 * Put the filters of the spec in place, in their order. Not part of lab_build(), so that reachability
 * can be proved before rules forbid it. Once only.
 */
int lab_filter(struct lab *lab, struct err *err);
/* The node that a filter of the spec belongs to; also before it is in place. -EINVAL at its mark. */
int lab_plan_filter_node(const struct lab_plan *plan, size_t filter, struct err *err);
/* Zero for stage "none" and for filters that are not in place. */
int lab_filter_counters(struct lab *lab, size_t filter, struct filter_counters *ret,
			struct err *err);
/* The UDP socket that a filter bound to LAB_TEST_PORT, owned by the lab; -1: it has none. */
int lab_filter_socket(const struct lab *lab, size_t filter);
/* What filters hold of the XDP hook of this end. */
enum xdp_hook lab_xdp_hook(const struct lab *lab, size_t link, unsigned int side);

/* Counters of one link end (rtnl_link_stats64), kernel names kept. */
struct link_counters {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors;
	uint64_t rx_dropped, tx_dropped;
	uint64_t qdisc_dropped; /* drops of the root qdisc, 0 for noqueue */
};
int lab_link_counters(struct lab *lab, size_t link, unsigned int side, struct link_counters *ret,
		      struct err *err);

/* Protocol counters of a node, read from its /proc/net/snmp and snmp6, and connection tracking's. */
struct node_counters {
	uint64_t ip_in_discards, ip_out_discards, ip_in_hdr_errors, ip_in_addr_errors;
	uint64_t ip_out_no_routes, ip_in_unknown_protos, ip_reasm_fails, ip_frag_fails,
		ip_frag_creates;
	uint64_t udp_no_ports, udp_in_errors, udp_rcvbuf_errors, udp_sndbuf_errors;
	uint64_t udp_csum_errors, udp_mem_errors;
	uint64_t udp_in_datagrams, udp_out_datagrams, tcp_retrans_segs;
	/* Connections tracked now, and at most (in the whole kernel); 0: not tracked here. */
	uint64_t ct_entries, ct_max;
	uint64_t ct_drop, ct_insert_failed, ct_early_drop, ct_invalid;
};
/* IPv4 and IPv6 added up. */
int lab_node_counters(struct lab *lab, size_t node, struct node_counters *ret, struct err *err);

/* A feature as the kernel reports it after setting. */
struct offload_state {
	const char *name; /* one of offload_names */
	bool known;	  /* the device has the feature at all */
	bool on;	  /* read back */
	bool wanted;
};
extern const char *const
	offload_names[]; /* NULL-terminated: tx, rx, tso, gso, gro, udp-segmentation, gro-list */
enum { OFFLOADS = 7 };
/*
 * Once more, for a link without offloads: attaching an XDP program to a veth turns GRO on in some
 * kernels (veth_xdp_set in drivers/net/veth.c). -EIO when one cannot be turned off.
 */
int lab_keep_offloads_off(struct lab *lab, size_t link, struct err *err);
int lab_offloads(struct lab *lab, size_t link, unsigned int side,
		 struct offload_state ret[OFFLOADS], struct err *err);

#endif
