/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns rules in the making: each function adds the expression of its name. */
#include <stdio.h>

#include <libnftnl/expr.h>
#include <libnftnl/rule.h>

#include "topo/filter/nft.h"

void nft_rule_begin(struct nft *nft, const char *chain)
{
	nft->rule = nftnl_rule_alloc();
	nft->chain = chain;
	if (!nft->rule) {
		nft->no_memory = true;
		return;
	}
	nftnl_rule_set_str(nft->rule, NFTNL_RULE_TABLE, nft->table);
	nftnl_rule_set_str(nft->rule, NFTNL_RULE_CHAIN, chain);
}

void nft_rule_end(struct nft *nft)
{
	struct nlmsghdr *nlh;

	if (!nft->rule)
		return;
	nlh = nft_put(nft, NFT_MSG_NEWRULE, NLM_F_APPEND, "add a rule to", nft->chain);
	nftnl_rule_nlmsg_build_payload(nlh, nft->rule);
	nftnl_rule_free(nft->rule);
	nft->rule = NULL;
}

/* NULL, and noted, without memory: the rule is lost then, and with it the whole. */
static struct nftnl_expr *add(struct nft *nft, const char *name)
{
	struct nftnl_expr *expr = nft->rule ? nftnl_expr_alloc(name) : NULL;

	if (expr)
		nftnl_rule_add_expr(nft->rule, expr);
	else
		nft->no_memory = true;
	return expr;
}

void nft_meta(struct nft *nft, uint32_t key, unsigned int reg)
{
	struct nftnl_expr *expr = add(nft, "meta");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_META_KEY, key);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_META_DREG, NFT_REG32_00 + reg);
}

void nft_payload(struct nft *nft, uint32_t base, uint32_t offset, uint32_t len, unsigned int reg)
{
	struct nftnl_expr *expr = add(nft, "payload");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_BASE, base);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_LEN, len);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG32_00 + reg);
}

void nft_mask(struct nft *nft, const void *mask, uint32_t len)
{
	static const uint8_t zero[16];
	struct nftnl_expr *expr = add(nft, "bitwise");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_SREG, NFT_REG32_00);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_DREG, NFT_REG32_00);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_LEN, len);
	nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_MASK, mask, len);
	nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_XOR, zero, len);
}

void nft_cmp(struct nft *nft, uint32_t op, const void *data, uint32_t len)
{
	struct nftnl_expr *expr = add(nft, "cmp");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_SREG, NFT_REG32_00);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CMP_OP, op);
	nftnl_expr_set(expr, NFTNL_EXPR_CMP_DATA, data, len);
}

void nft_range(struct nft *nft, const void *from, const void *to, uint32_t len)
{
	struct nftnl_expr *expr = add(nft, "range");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_RANGE_SREG, NFT_REG32_00);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_RANGE_OP, NFT_RANGE_EQ);
	nftnl_expr_set(expr, NFTNL_EXPR_RANGE_FROM_DATA, from, len);
	nftnl_expr_set(expr, NFTNL_EXPR_RANGE_TO_DATA, to, len);
}

void nft_lookup(struct nft *nft, const char *set, bool verdicts)
{
	struct nftnl_expr *expr = add(nft, "lookup");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_LOOKUP_SREG, NFT_REG32_00);
	nftnl_expr_set_str(expr, NFTNL_EXPR_LOOKUP_SET, set);
	if (verdicts)
		nftnl_expr_set_u32(expr, NFTNL_EXPR_LOOKUP_DREG, NFT_REG_VERDICT);
}

void nft_count(struct nft *nft)
{
	struct nftnl_expr *expr = add(nft, "objref");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_OBJREF_IMM_TYPE, NFT_OBJECT_COUNTER);
	nftnl_expr_set_str(expr, NFTNL_EXPR_OBJREF_IMM_NAME, NFT_COUNTER);
}

void nft_immediate(struct nft *nft, const void *data, uint32_t len)
{
	struct nftnl_expr *expr = add(nft, "immediate");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_DREG, NFT_REG32_00);
	nftnl_expr_set(expr, NFTNL_EXPR_IMM_DATA, data, len);
}

void nft_verdict(struct nft *nft, int verdict, const char *chain)
{
	struct nftnl_expr *expr = add(nft, "immediate");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_VERDICT, (uint32_t)verdict);
	if (chain)
		nftnl_expr_set_str(expr, NFTNL_EXPR_IMM_CHAIN, chain);
}

void nft_reject(struct nft *nft)
{
	struct nftnl_expr *expr = add(nft, "reject");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_REJECT_TYPE, NFT_REJECT_ICMPX_UNREACH);
	nftnl_expr_set_u8(expr, NFTNL_EXPR_REJECT_CODE, NFT_REJECT_ICMPX_PORT_UNREACH);
}

void nft_ct_state(struct nft *nft)
{
	struct nftnl_expr *expr = add(nft, "ct");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CT_KEY, NFT_CT_STATE);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_CT_DREG, NFT_REG32_00);
}

void nft_notrack(struct nft *nft)
{
	add(nft, "notrack");
}

void nft_masquerade(struct nft *nft)
{
	add(nft, "masq");
}

void nft_dnat(struct nft *nft, int family)
{
	struct nftnl_expr *expr = add(nft, "nat");

	if (!expr)
		return;
	nftnl_expr_set_u32(expr, NFTNL_EXPR_NAT_TYPE, NFT_NAT_DNAT);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_NAT_FAMILY, (uint32_t)family);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_NAT_REG_ADDR_MIN, NFT_REG32_00);
	nftnl_expr_set_u32(expr, NFTNL_EXPR_NAT_REG_ADDR_MAX, NFT_REG32_00);
}

void nft_flow(struct nft *nft, const char *flowtable)
{
	struct nftnl_expr *expr = add(nft, "flow_offload");

	if (expr)
		nftnl_expr_set_str(expr, NFTNL_EXPR_FLOW_TABLE_NAME, flowtable);
}
