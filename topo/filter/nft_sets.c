/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns rules that look their values up: hash sets, interval sets and verdict maps. */
#include <string.h>

#include <libnftnl/set.h>

#include "topo/filter/nft.h"

/*
 * A message is at most NL_TRANSACTION_MESSAGE_MAX, and a nested attribute 64 KiB: the longest
 * element, an IPv6 tuple in a verdict map, takes 156 bytes.
 */
enum { MESSAGE_ELEMENTS = 256 };

/* Four bytes for each begun four of a field. */
struct key {
	uint8_t bytes[64];
	uint32_t len;
};

struct set {
	const char *name;
	unsigned int variant; /* whose misses it holds */
	bool map, intervals;
	size_t fields; /* 1: no concatenation */
	struct nftnl_set *message;
	size_t n;
};

static struct key key_of(const struct nft *nft, const struct nft_value *value, bool end)
{
	const size_t first = nft_guards(nft->site->spec);
	struct key key = {.len = 0};

	for (size_t i = first; i < value->n; i++) {
		const struct nft_field *field = &value->fields[i];

		memcpy(key.bytes + key.len, end ? field->to : field->from, field->len);
		/* A field alone keeps its length: only concatenations are padded. */
		key.len += value->n - first == 1 ? field->len : (field->len + 3U) / 4 * 4;
	}
	return key;
}

/* The number by which the nft command knows a type, so that it can list the set. */
static uint32_t type_of(const struct nft_field *field)
{
	enum { IPV4_ADDR = 7, IPV6_ADDR = 8, INET_PROTO = 12, INET_SERVICE = 13 };

	switch (field->what) {
	case NFT_SOURCE:
	case NFT_DESTINATION:
		return field->ipv6 ? IPV6_ADDR : IPV4_ADDR;
	case NFT_PROTOCOL:
		return INET_PROTO;
	default:
		return INET_SERVICE;
	}
}

static void describe(const struct nft *nft, const struct set *set, struct nftnl_set *message)
{
	enum { TYPE_BITS = 6 };
	uint32_t flags = 0, type = 0;
	struct nft_value value;
	uint8_t lens[NFT_FIELDS_MAX], n = 0;

	nft_value(nft, set->variant, NFT_HIT, &value);
	for (size_t i = nft_guards(nft->site->spec); i < value.n; i++) {
		type = type << TYPE_BITS | type_of(&value.fields[i]);
		lens[n++] = value.fields[i].len;
	}
	if (set->map)
		flags |= NFT_SET_MAP;
	if (set->intervals)
		flags |= NFT_SET_INTERVAL;
	if (n > 1) {
		flags |= NFT_SET_CONCAT;
		nftnl_set_set_data(message, NFTNL_SET_DESC_CONCAT, lens, n);
	}
	nftnl_set_set_u32(message, NFTNL_SET_FLAGS, flags);
	nftnl_set_set_u32(message, NFTNL_SET_KEY_TYPE, type);
	nftnl_set_set_u32(message, NFTNL_SET_KEY_LEN, key_of(nft, &value, false).len);
	if (set->map) {
		nftnl_set_set_u32(message, NFTNL_SET_DATA_TYPE, NFT_DATA_VERDICT);
		nftnl_set_set_u32(message, NFTNL_SET_DATA_LEN, sizeof(uint32_t));
	}
}

static void name(const struct nft *nft, const struct set *set, struct nftnl_set *message)
{
	nftnl_set_set_str(message, NFTNL_SET_TABLE, nft->table);
	nftnl_set_set_str(message, NFTNL_SET_NAME, set->name);
}

static void make_set(struct nft *nft, struct set *set)
{
	struct nlmsghdr *nlh = nft_put(nft, NFT_MSG_NEWSET, NLM_F_EXCL, "make the set", set->name);
	struct nftnl_set *message = nftnl_set_alloc();

	if (!message) {
		nft->no_memory = true;
		return;
	}
	name(nft, set, message);
	nftnl_set_set_u32(message, NFTNL_SET_ID, set->variant + 1);
	describe(nft, set, message);
	nftnl_set_nlmsg_build_payload(nlh, message);
	nftnl_set_free(message);
}

static void flush(struct nft *nft, struct set *set)
{
	struct nlmsghdr *nlh;

	if (!set->message)
		return;
	nlh = nft_put(nft, NFT_MSG_NEWSETELEM, 0, "add elements to the set", set->name);
	nftnl_set_elems_nlmsg_build_payload(nlh, set->message);
	nftnl_set_free(set->message);
	set->message = NULL;
	set->n = 0;
}

static struct nftnl_set_elem *new_element(struct nft *nft, struct set *set, const struct key *key)
{
	struct nftnl_set_elem *elem;

	if (set->n == MESSAGE_ELEMENTS)
		flush(nft, set);
	if (!set->message) {
		set->message = nftnl_set_alloc();
		if (set->message)
			name(nft, set, set->message);
	}
	elem = set->message ? nftnl_set_elem_alloc() : NULL;
	if (!elem) {
		nft->no_memory = true;
		return NULL;
	}
	nftnl_set_elem_set(elem, NFTNL_SET_ELEM_KEY, key->bytes, key->len);
	nftnl_set_elem_add(set->message, elem);
	set->n++;
	return elem;
}

/* The first key after an interval. */
static struct key next_key(struct key key)
{
	for (size_t i = key.len; i-- > 0 && !++key.bytes[i];)
		;
	return key;
}

static void add_element(struct nft *nft, struct set *set, unsigned int variant, int index)
{
	struct nftnl_set_elem *elem;
	struct nft_value value;
	struct key from, to;

	nft_value(nft, variant, index, &value);
	from = key_of(nft, &value, false);
	to = key_of(nft, &value, true);
	elem = new_element(nft, set, &from);
	if (!elem)
		return;
	if (set->map) {
		nftnl_set_elem_set_u32(elem, NFTNL_SET_ELEM_VERDICT, (uint32_t)NFT_GOTO);
		nftnl_set_elem_set_str(elem, NFTNL_SET_ELEM_CHAIN, NFT_HIT_CHAIN);
	}
	if (!set->intervals)
		return;
	if (set->fields > 1) {
		nftnl_set_elem_set(elem, NFTNL_SET_ELEM_KEY_END, to.bytes, to.len);
		return;
	}
	to = next_key(to);
	elem = new_element(nft, set, &to);
	if (elem)
		nftnl_set_elem_set_u32(elem, NFTNL_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END);
}

/* A hash of protocols and ports has the hit for both protocols. */
static void fill(struct nft *nft, struct set *set)
{
	const struct filter_spec *spec = nft->site->spec;
	const int misses = (int)spec->rules - (spec->hit != FILTER_NEVER);

	for (int i = 0; i < misses; i++)
		add_element(nft, set, set->variant, i);
	if (spec->hit != FILTER_NEVER)
		add_element(nft, set, set->variant, NFT_HIT);
	if (spec->hit != FILTER_NEVER && !nft_guards(spec))
		add_element(nft, set, !set->variant, NFT_HIT);
	flush(nft, set);
}

static void add_rule(struct nft *nft, const char *chain, const struct set *set,
		     unsigned int variant)
{
	const size_t guards = nft_guards(nft->site->spec);
	struct nft_value value;
	unsigned int reg = 0;

	nft_value(nft, variant, NFT_HIT, &value);
	nft_rule_begin(nft, chain);
	for (size_t i = 0; i < guards; i++)
		nft_compare(nft, &value.fields[i]);
	for (size_t i = guards; i < value.n; reg += (value.fields[i++].len + 3U) / 4)
		nft_load(nft, &value.fields[i], reg);
	nft_lookup(nft, set->name, set->map);
	if (!set->map)
		nft_action(nft);
	nft_rule_end(nft);
}

void nft_sets(struct nft *nft, const char *chain)
{
	static const char *const names[NFT_VARIANTS] = {"first", "second"};
	const struct filter_spec *spec = nft->site->spec;
	const bool shared = spec->match == FILTER_PORT;
	struct set set = {.map = spec->structure == FILTER_VERDICT_MAP,
			  .intervals = spec->match != FILTER_PORT ||
				       spec->structure == FILTER_INTERVALS};
	struct nft_value value;

	if (set.map) {
		nft_chain(nft, NFT_HIT_CHAIN, NULL);
		nft_rule_begin(nft, NFT_HIT_CHAIN);
		nft_action(nft);
		nft_rule_end(nft);
	}
	nft_value(nft, 0, NFT_HIT, &value);
	set.fields = value.n - nft_guards(spec);
	for (unsigned int variant = 0; variant < NFT_VARIANTS; variant++) {
		if (!variant || !shared) {
			set.variant = variant;
			set.name = names[variant];
			make_set(nft, &set);
			fill(nft, &set);
		}
		if (!variant || nft_guards(spec))
			add_rule(nft, chain, &set, variant);
	}
}
