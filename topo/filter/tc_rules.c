/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the stages tc-u32 and tc-flower: classifiers at the tc ingress. All rules that may hit share
 * one generic action, so that its statistics are the counter; the others share a second one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <stdlib.h>
#include <string.h>

#include "topo/aside.h"
#include "topo/feature.h"
#include "topo/filter/drop_rules.h"
#include "topo/filter/filter.h"
#include "topo/tc.h"

/*
 * A u32 table has room for about 2000 filters in the order they came; then the next priority goes
 * on. A priority is for one protocol.
 */
enum { RULES_PER_PRIORITY = 2000, PRIORITY_IPV4 = 1, PRIORITY_IPV6 = 101, WORDS_MAX = 16 };

#define PROBE_NS UINT64_C(10000000000)

struct rules {
	struct nl nl;
	uint32_t hit, miss; /* indexes of the actions */
	bool drops;
};

/* One filter: a rule for one protocol. */
struct put {
	struct nl_batch *batch;
	const struct filter_device *device;
	const char *kind;
	int match;
	uint16_t priority;
	uint32_t action;
	uint8_t protocol; /* IPPROTO_…; the one of DROP_OTHER is SCTP */
};

/* Compare the 32 bits at `offset` from the network header. */
struct u32_words {
	struct tc_u32_sel sel;
	struct tc_u32_key keys[WORDS_MAX];
};

static void want(struct u32_words *words, int offset, uint32_t value, uint32_t mask)
{
	words->keys[words->sel.nkeys++] =
		(struct tc_u32_key){.mask = mask, .val = value & mask, .off = offset};
}

static void put_u32(const struct put *put, uint16_t eth_type, const struct u32_words *words)
{
	const struct tc_filter filter =
		tc_put_filter(put->batch, put->device->ifindex, put->device->ifname, put->kind,
			      eth_type, put->priority);

	mnl_attr_put(filter.nlh, TCA_U32_SEL,
		     sizeof(words->sel) + words->sel.nkeys * sizeof(words->keys[0]), words);
	tc_put_gact(filter.nlh, TCA_U32_ACT, put->action);
	tc_end_filter(&filter);
}

static void put_u32_ipv4(const struct put *put, const struct drop_rule4 *rule)
{
	struct u32_words words = {.sel.flags = TC_U32_TERMINAL};

	if (put->match != FILTER_PORT)
		want(&words, 12, rule->src, rule->src_mask);
	if (put->match == FILTER_TUPLE)
		want(&words, 16, rule->dst, rule->dst_mask);
	if (put->match != FILTER_PREFIX) {
		/* No options, no later fragment, the protocol; then both ports, the first any. */
		want(&words, 0, htonl(0x05000000), htonl(0x0f000000));
		want(&words, 4, 0, htonl(0x00001fff));
		want(&words, 8, htonl((uint32_t)put->protocol << 16), htonl(0x00ff0000));
		want(&words, 20, htonl(ntohs(rule->ports.dport)), htonl(0x0000ffff));
	}
	put_u32(put, ETH_P_IP, &words);
}

static void put_u32_ipv6(const struct put *put, const struct drop_rule6 *rule)
{
	struct u32_words words = {.sel.flags = TC_U32_TERMINAL};

	for (int i = 0; i < 4; i++) {
		if (put->match != FILTER_PORT)
			want(&words, 8 + 4 * i, rule->src[i], rule->src_mask[i]);
		if (put->match == FILTER_TUPLE)
			want(&words, 24 + 4 * i, rule->dst[i], rule->dst_mask[i]);
	}
	if (put->match != FILTER_PREFIX) {
		want(&words, 4, htonl((uint32_t)put->protocol << 8), htonl(0x0000ff00));
		want(&words, 40, htonl(ntohs(rule->ports.dport)), htonl(0x0000ffff));
	}
	put_u32(put, ETH_P_IPV6, &words);
}

static void put_flower_ports(const struct put *put, struct nlmsghdr *nlh,
			     const struct drop_ports *ports)
{
	const uint16_t attr = put->protocol == IPPROTO_UDP   ? TCA_FLOWER_KEY_UDP_DST
			      : put->protocol == IPPROTO_TCP ? TCA_FLOWER_KEY_TCP_DST
							     : TCA_FLOWER_KEY_SCTP_DST;

	mnl_attr_put_u8(nlh, TCA_FLOWER_KEY_IP_PROTO, put->protocol);
	mnl_attr_put_u16(nlh, attr, ports->dport);
}

static struct tc_filter start_flower(const struct put *put, uint16_t eth_type)
{
	const struct tc_filter filter =
		tc_put_filter(put->batch, put->device->ifindex, put->device->ifname, put->kind,
			      eth_type, put->priority);

	mnl_attr_put_u16(filter.nlh, TCA_FLOWER_KEY_ETH_TYPE, htons(eth_type));
	tc_put_gact(filter.nlh, TCA_FLOWER_ACT, put->action);
	return filter;
}

static void put_flower_ipv4(const struct put *put, const struct drop_rule4 *rule)
{
	const struct tc_filter filter = start_flower(put, ETH_P_IP);

	if (put->match != FILTER_PORT) {
		mnl_attr_put_u32(filter.nlh, TCA_FLOWER_KEY_IPV4_SRC, rule->src);
		mnl_attr_put_u32(filter.nlh, TCA_FLOWER_KEY_IPV4_SRC_MASK, rule->src_mask);
	}
	if (put->match == FILTER_TUPLE) {
		mnl_attr_put_u32(filter.nlh, TCA_FLOWER_KEY_IPV4_DST, rule->dst);
		mnl_attr_put_u32(filter.nlh, TCA_FLOWER_KEY_IPV4_DST_MASK, rule->dst_mask);
	}
	if (put->match != FILTER_PREFIX)
		put_flower_ports(put, filter.nlh, &rule->ports);
	tc_end_filter(&filter);
}

static void put_flower_ipv6(const struct put *put, const struct drop_rule6 *rule)
{
	const struct tc_filter filter = start_flower(put, ETH_P_IPV6);

	if (put->match != FILTER_PORT) {
		mnl_attr_put(filter.nlh, TCA_FLOWER_KEY_IPV6_SRC, sizeof(rule->src), rule->src);
		mnl_attr_put(filter.nlh, TCA_FLOWER_KEY_IPV6_SRC_MASK, sizeof(rule->src_mask),
			     rule->src_mask);
	}
	if (put->match == FILTER_TUPLE) {
		mnl_attr_put(filter.nlh, TCA_FLOWER_KEY_IPV6_DST, sizeof(rule->dst), rule->dst);
		mnl_attr_put(filter.nlh, TCA_FLOWER_KEY_IPV6_DST_MASK, sizeof(rule->dst_mask),
			     rule->dst_mask);
	}
	if (put->match != FILTER_PREFIX)
		put_flower_ports(put, filter.nlh, &rule->ports);
	tc_end_filter(&filter);
}

static void put_rule(struct put *put, size_t i, bool hit)
{
	const uint16_t step = (uint16_t)(i / RULES_PER_PRIORITY);
	const struct drop_rule4 rule4 = drop_rule4(i, hit);
	const struct drop_rule6 rule6 = drop_rule6(i, hit);
	const bool u32 = !strcmp(put->kind, "u32");

	put->priority = PRIORITY_IPV4 + step;
	(u32 ? put_u32_ipv4 : put_flower_ipv4)(put, &rule4);
	put->priority = PRIORITY_IPV6 + step;
	(u32 ? put_u32_ipv6 : put_flower_ipv6)(put, &rule6);
}

/* A classifier names one protocol, so a rule for UDP and TCP takes two. */
static int add_rules(struct rules *rules, const struct filter_spec *spec, const char *kind,
		     const struct filter_device *device, struct err *err)
{
	struct nl_batch batch;
	struct put put = {.batch = &batch, .device = device, .kind = kind, .match = spec->match};
	int r = nl_batch_init(&batch, err);

	if (r)
		return r;
	nl_begin(&batch, &rules->nl);
	for (size_t i = 0; i < spec->rules; i++) {
		const bool hit = drop_is_hit(spec, i);

		put.action = hit ? rules->hit : rules->miss;
		put.protocol = hit ? IPPROTO_UDP : IPPROTO_SCTP;
		put_rule(&put, i, hit);
		if (!hit || spec->match == FILTER_PREFIX)
			continue;
		put.protocol = IPPROTO_TCP;
		put_rule(&put, i, hit);
	}
	r = nl_commit(&batch, err);
	nl_batch_release(&batch);
	return r;
}

static int add_actions(struct rules *rules, const struct filter_spec *spec, struct err *err)
{
	const int verdict = spec->action == FILTER_DROP	    ? TC_ACT_SHOT
			    : spec->action == FILTER_ACCEPT ? TC_ACT_OK
							    : TC_ACT_UNSPEC;
	int r = tc_gact_new(&rules->nl, verdict, &rules->hit, err);

	return r ? r : tc_gact_new(&rules->nl, verdict, &rules->miss, err);
}

static int attach(const struct filter_site *site, const char *kind, void **ret_state,
		  struct err *err)
{
	struct rules *rules = calloc(1, sizeof(*rules));
	int r;

	if (!rules)
		return err_sys(err, ENOMEM, "cannot attach classifiers");
	*ret_state = rules;
	rules->drops = site->spec->action == FILTER_DROP;
	r = nl_open(&rules->nl, site->node, err);
	if (!r)
		r = add_actions(rules, site->spec, err);
	for (size_t i = 0; !r && i < site->n_devices; i++) {
		const struct filter_device *device = &site->devices[i];

		r = tc_clsact(&rules->nl, device->ifindex, device->ifname, err);
		if (!r)
			r = add_rules(rules, site->spec, kind, device, err);
	}
	return r;
}

static int attach_u32(const struct filter_site *site, void **ret_state, struct err *err)
{
	return attach(site, "u32", ret_state, err);
}

static int attach_flower(const struct filter_site *site, void **ret_state, struct err *err)
{
	return attach(site, "flower", ret_state, err);
}

static int read_counters(void *state, struct filter_counters *ret, struct err *err)
{
	struct rules *rules = state;
	uint64_t packets;
	int r = tc_gact_packets(&rules->nl, rules->hit, &packets, err);

	if (r)
		return r;
	*ret = (struct filter_counters){
		.matched = packets, .dropped = rules->drops ? packets : 0, .exact = true};
	return 0;
}

/* The filters and their actions belong to the namespace. */
static void detach(void *state)
{
	struct rules *rules = state;

	nl_close(&rules->nl);
	free(rules);
}

/* All that the stage needs, done with the loopback device of a namespace to be thrown away. */
static int probe(const void *arg, struct err *err)
{
	const struct filter_device lo = {.ifname = "lo", .ifindex = 1};
	const struct filter_spec spec = {.rules = 1};
	const bool u32 = !strcmp(arg, "u32");
	struct rules rules = {0};
	int r;

	/* Without privilege there is no telling. */
	if (feature_enter(NULL))
		return 0;
	r = nl_open(&rules.nl, "trial", err);
	if (!r)
		r = tc_missing(tc_clsact(&rules.nl, lo.ifindex, lo.ifname, err), "clsact qdisc",
			       "NET_SCH_INGRESS", err);
	if (!r)
		r = tc_missing(add_actions(&rules, &spec, err), "act_gact", "NET_ACT_GACT", err);
	if (!r)
		r = tc_missing(add_rules(&rules, &spec, arg, &lo, err),
			       u32 ? "cls_u32" : "cls_flower",
			       u32 ? "NET_CLS_U32" : "NET_CLS_FLOWER", err);
	nl_close(&rules.nl);
	return r;
}

static int check(const struct filter_spec *spec, const char *kind, struct err *err)
{
	int r;

	if (spec->action == FILTER_REJECT)
		return err_set(err, EINVAL,
			       "action reject needs an answer to the sender, tc has none");
	if (spec->structure != FILTER_LINEAR)
		return err_set(err, EINVAL, "tc classifiers are rules of structure linear only");
	r = aside_run(probe, kind, PROBE_NS, err);
	return !r || r == -EPERM ? 0 : -EOPNOTSUPP;
}

static int check_u32(const void *cfg, struct err *err)
{
	return check(cfg, "u32", err);
}

static int check_flower(const void *cfg, struct err *err)
{
	return check(cfg, "flower", err);
}

const struct filter filter_tc_u32 = {
	.kind = {.name = "tc-u32",
		 .help = "u32 classifiers at the tc ingress, with generic actions",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check_u32},
	.lasting = true,
	.attach = attach_u32,
	.read = read_counters,
	.detach = detach,
};

const struct filter filter_tc_flower = {
	.kind = {.name = "tc-flower",
		 .help = "flower classifiers at the tc ingress, with generic actions",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check_flower},
	.lasting = true,
	.attach = attach_flower,
	.read = read_counters,
	.detach = detach,
};
