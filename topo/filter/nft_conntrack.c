/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a filter asks of connection tracking: a table of its own, beside that of the rules. */
#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter_ipv4.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "topo/filter/nft.h"

#define FLOWTABLE "fast"

static const struct nft_hook tracked = {"tracked", "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_MANGLE};
static const struct nft_hook raw = {"raw", "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_RAW};
static const struct nft_hook raw_output = {"raw-output", "filter", NF_INET_LOCAL_OUT,
					   NF_IP_PRI_RAW};
static const struct nft_hook source_nat = {"source-nat", "nat", NF_INET_POST_ROUTING,
					   NF_IP_PRI_NAT_SRC};
static const struct nft_hook target_nat = {"target-nat", "nat", NF_INET_PRE_ROUTING,
					   NF_IP_PRI_NAT_DST};
/* After the rules, so that only flows which they let pass are taken out of their hands. */
static const struct nft_hook offload = {"offload", "filter", NF_INET_FORWARD, NF_IP_PRI_FILTER + 1};

/*
 * The kernel tracks connections only where a rule asks about them. This one asks whether the packet
 * is invalid, and then does nothing.
 */
static void add_tracked(struct nft *nft)
{
	const uint32_t invalid = 1, zero = 0;

	nft_chain(nft, tracked.chain, &tracked);
	nft_rule_begin(nft, tracked.chain);
	nft_ct_state(nft);
	nft_mask(nft, &invalid, sizeof(invalid));
	nft_cmp(nft, NFT_CMP_NEQ, &zero, sizeof(zero));
	nft_rule_end(nft);
}

static void add_notrack(struct nft *nft, const struct nft_hook *hook)
{
	nft_chain(nft, hook->chain, hook);
	nft_rule_begin(nft, hook->chain);
	nft_notrack(nft);
	nft_rule_end(nft);
}

static void add_masquerade(struct nft *nft)
{
	char name[IFNAMSIZ] = {0};

	snprintf(name, sizeof(name), "%s", nft->site->out);
	nft_chain(nft, source_nat.chain, &source_nat);
	nft_rule_begin(nft, source_nat.chain);
	nft_meta(nft, NFT_META_OIFNAME, 0);
	nft_cmp(nft, NFT_CMP_EQ, name, sizeof(name));
	nft_masquerade(nft);
	nft_rule_end(nft);
}

static void add_dnat(struct nft *nft, int family, const char *text)
{
	const bool ipv6 = family == AF_INET6;
	const uint8_t nfproto = ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	const uint8_t tcp = IPPROTO_TCP, udp = IPPROTO_UDP;
	const uint16_t port = htons(LAB_TEST_PORT);
	struct in6_addr addr;

	if (!text || inet_pton(family, text, &addr) != 1)
		return;
	nft_rule_begin(nft, target_nat.chain);
	nft_meta(nft, NFT_META_NFPROTO, 0);
	nft_cmp(nft, NFT_CMP_EQ, &nfproto, sizeof(nfproto));
	nft_meta(nft, NFT_META_L4PROTO, 0);
	nft_range(nft, &tcp, &udp, sizeof(tcp));
	nft_payload(nft, NFT_PAYLOAD_TRANSPORT_HEADER, 2, sizeof(port), 0);
	nft_cmp(nft, NFT_CMP_EQ, &port, sizeof(port));
	nft_immediate(nft, &addr, ipv6 ? sizeof(struct in6_addr) : sizeof(struct in_addr));
	nft_dnat(nft, nfproto);
	nft_rule_end(nft);
}

static void add_flowtable(struct nft *nft)
{
	const uint8_t tcp = IPPROTO_TCP, udp = IPPROTO_UDP;

	nft_flowtable(nft, FLOWTABLE);
	nft_chain(nft, offload.chain, &offload);
	nft_rule_begin(nft, offload.chain);
	nft_meta(nft, NFT_META_L4PROTO, 0);
	nft_range(nft, &tcp, &udp, sizeof(tcp));
	nft_flow(nft, FLOWTABLE);
	nft_rule_end(nft);
}

void nft_conntrack(struct nft *nft)
{
	const struct filter_spec *spec = nft->site->spec;
	size_t len = strlen(nft->table);

	if (spec->conntrack == FILTER_CT_NONE)
		return;
	nft->family = NFPROTO_INET;
	snprintf(nft->table + len, sizeof(nft->table) - len, "-ct");
	nft_table(nft);
	add_tracked(nft);
	switch (spec->conntrack) {
	case FILTER_CT_NOTRACK:
		add_notrack(nft, &raw);
		add_notrack(nft, &raw_output);
		break;
	case FILTER_CT_MASQUERADE:
		add_masquerade(nft);
		break;
	case FILTER_CT_DNAT:
		nft_chain(nft, target_nat.chain, &target_nat);
		add_dnat(nft, AF_INET, nft->site->dnat);
		add_dnat(nft, AF_INET6, nft->site->dnat6);
		break;
	}
	if (spec->flowtable)
		add_flowtable(nft);
}
