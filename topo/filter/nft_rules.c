/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns rules one after the other, and what a rule does that matched. */
#include <linux/netfilter.h>

#include "topo/filter/nft.h"

void nft_action(struct nft *nft)
{
	nft_count(nft);
	switch (nft->site->spec->action) {
	case FILTER_DROP:
		nft_verdict(nft, NF_DROP, NULL);
		break;
	case FILTER_ACCEPT:
		nft_verdict(nft, NF_ACCEPT, NULL);
		break;
	case FILTER_REJECT:
		nft_reject(nft);
		break;
	case FILTER_COUNT:
		break;
	}
}

static void add_rule(struct nft *nft, const char *chain, unsigned int variant, int index)
{
	struct nft_value value;

	nft_value(nft, variant, index, &value);
	nft_rule_begin(nft, chain);
	for (size_t i = 0; i < value.n; i++)
		nft_compare(nft, &value.fields[i]);
	nft_action(nft);
	nft_rule_end(nft);
}

static void add_rules(struct nft *nft, const char *chain, unsigned int variant)
{
	const struct filter_spec *spec = nft->site->spec;
	const int hit = spec->hit == FILTER_FIRST  ? 0
			: spec->hit == FILTER_LAST ? (int)spec->rules - 1
						   : -1;

	for (int i = 0; i < (int)spec->rules; i++)
		add_rule(nft, chain, variant, i == hit ? NFT_HIT : i);
}

/* The second variant goes to a chain of its own, so that a packet meets the rules of one only. */
void nft_linear(struct nft *nft, const char *chain)
{
	static const char *const second = "second";
	struct nft_value value;

	nft_chain(nft, second, NULL);
	nft_value(nft, 1, NFT_HIT, &value);
	nft_rule_begin(nft, chain);
	nft_compare(nft, &value.fields[0]);
	nft_verdict(nft, NFT_GOTO, second);
	nft_rule_end(nft);
	add_rules(nft, chain, 0);
	add_rules(nft, second, 1);
}
