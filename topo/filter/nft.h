/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of the nft stages (nft-ingress … nft-output): what their files share.
 *
 * A filter is one table, loaded in one transaction. The values that its rules compare:
 *
 *   match    hit                                          miss number i
 *   port     udp or tcp, to LAB_TEST_PORT                 to port 10000 + i
 *   prefix   from 198.18.0.0/15 or 2001:2::/48            from a prefix in 10.0.0.0/8 or fd00::/16
 *   tuple    from the prefixes above, to any unicast      to port 10000 + i, all else as the hit;
 *            address, protocol 6 to 17, from any port     in a set its source is that of a prefix miss
 *            but 0, to LAB_TEST_PORT                      as well
 *
 * port comes in two variants, udp and tcp, the others in IPv4 and IPv6. Linear rules are there for
 * either variant, `rules` of them each, and a packet meets those of its own only. Sets have `rules`
 * elements: one set with both protocols (hash: then the hit counts double), one with ports for both
 * (intervals), or one for each family.
 *
 * Whatever hits passes the counter object NFT_COUNTER once; misses pass it never.
 */
#ifndef TOPO_FILTER_NFT_H
#define TOPO_FILTER_NFT_H

#include <linux/netfilter/nf_tables.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/filter/filter.h"
#include "topo/nl.h"

#define NFT_COUNTER   "hits"
#define NFT_HIT_CHAIN "hit" /* where verdict maps send what hits */

struct nftnl_rule;
struct nftnl_set;

/* A table in the making. Failures to get memory stick, and come out of nft_commit. */
struct nft {
	const struct filter_site *site;
	struct nl nl;
	struct nl_batch batch;
	int family;	   /* NFPROTO_INET or NFPROTO_NETDEV */
	char table[32];	   /* where what follows goes */
	const char *chain; /* and the rules */
	struct nftnl_rule *rule;
	bool no_memory;
};

/* nft.c: the hook of a stage. */
struct nft_hook {
	const char *chain, *type;
	uint32_t number;
	int32_t priority;
};

/* nft_batch.c: objects into messages. Borrow all texts until nft_commit. */
struct nlmsghdr *nft_put(struct nft *nft, uint16_t message, uint16_t flags, const char *verb,
			 const char *subject);
void nft_table(struct nft *nft);
/* hook NULL: a chain to jump to. */
void nft_chain(struct nft *nft, const char *name, const struct nft_hook *hook);
void nft_counter(struct nft *nft);
/* Over the devices of the site. */
void nft_flowtable(struct nft *nft, const char *name);
int nft_commit(struct nft *nft, struct err *err);

/* nft_expr.c: rules, expression by expression. */
void nft_rule_begin(struct nft *nft, const char *chain);
void nft_rule_end(struct nft *nft);
/* A register as the kernel numbers them: 0 is the first of 16 with four bytes each. */
void nft_meta(struct nft *nft, uint32_t key, unsigned int reg);
void nft_payload(struct nft *nft, uint32_t base, uint32_t offset, uint32_t len, unsigned int reg);
void nft_mask(struct nft *nft, const void *mask, uint32_t len);
/* What register 0 holds: NFT_CMP_EQ … */
void nft_cmp(struct nft *nft, uint32_t op, const void *data, uint32_t len);
void nft_range(struct nft *nft, const void *from, const void *to, uint32_t len);
/* The key begins in register 0. */
void nft_lookup(struct nft *nft, const char *set, bool verdicts);
void nft_count(struct nft *nft);
void nft_immediate(struct nft *nft, const void *data, uint32_t len);
/* NF_ACCEPT, NFT_GOTO …; chain for those that go to one. */
void nft_verdict(struct nft *nft, int verdict, const char *chain);
void nft_reject(struct nft *nft);
void nft_ct_state(struct nft *nft);
void nft_notrack(struct nft *nft);
void nft_masquerade(struct nft *nft);
/* To the address in register 0. */
void nft_dnat(struct nft *nft, int family);
void nft_flow(struct nft *nft, const char *flowtable);

/* nft_match.c: what rules compare. */
enum nft_what { NFT_FAMILY, NFT_PROTOCOL, NFT_SOURCE, NFT_DESTINATION, NFT_FROM_PORT, NFT_TO_PORT };

/* One field of a packet and the values of it that match, both ends included. */
struct nft_field {
	enum nft_what what;
	uint8_t len;
	bool ipv6; /* for addresses */
	uint8_t from[16], to[16];
};

enum { NFT_FIELDS_MAX = 6, NFT_VARIANTS = 2, NFT_HIT = -1 };

struct nft_value {
	struct nft_field fields[NFT_FIELDS_MAX];
	size_t n;
};

/* The hit (index NFT_HIT) or a miss, of variant 0 or 1. */
void nft_value(const struct nft *nft, unsigned int variant, int index, struct nft_value *ret);
/* How many fields at the front of a value the rule compares that looks up the others in a set. */
size_t nft_guards(const struct filter_spec *spec);
void nft_load(struct nft *nft, const struct nft_field *field, unsigned int reg);
void nft_compare(struct nft *nft, const struct nft_field *field);

/* nft_rules.c, nft_sets.c: the rules of the chain, where spec->rules is not 0. */
void nft_linear(struct nft *nft, const char *chain);
void nft_sets(struct nft *nft, const char *chain);
/* The end of a rule that matched: count, then do what spec->action says. */
void nft_action(struct nft *nft);

/* nft_conntrack.c: a table of its own for spec->conntrack. */
void nft_conntrack(struct nft *nft);

#endif
