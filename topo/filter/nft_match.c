/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the values that rules compare, as nft.h describes them. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <string.h>

#include "topo/filter/nft.h"

enum { MISS_PORT = 10000, UNICAST_END = 223 };

static struct nft_field *add(struct nft_value *value, enum nft_what what, uint8_t len)
{
	struct nft_field *field = &value->fields[value->n++];

	*field = (struct nft_field){.what = what, .len = len};
	return field;
}

static void add_byte(struct nft_value *value, enum nft_what what, uint8_t from, uint8_t to)
{
	struct nft_field *field = add(value, what, 1);

	field->from[0] = from;
	field->to[0] = to;
}

static void add_port(struct nft_value *value, enum nft_what what, uint16_t from, uint16_t to)
{
	struct nft_field *field = add(value, what, 2);

	from = htons(from);
	to = htons(to);
	memcpy(field->from, &from, 2);
	memcpy(field->to, &to, 2);
}

/* A netdev chain sees Ethernet types where an inet chain sees protocol families. */
static void add_family(const struct nft *nft, struct nft_value *value, bool ipv6)
{
	uint16_t type = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	struct nft_field *field;

	if (nft->family == NFPROTO_NETDEV) {
		field = add(value, NFT_FAMILY, 2);
		memcpy(field->from, &type, 2);
		memcpy(field->to, &type, 2);
	} else {
		add_byte(value, NFT_FAMILY, ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4,
			 ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4);
	}
}

/* from has the bits of the prefix, and zeros. */
static void end_prefix(struct nft_field *field, unsigned int bits)
{
	for (size_t i = 0; i < field->len; i++, bits -= bits < 8 ? bits : 8)
		field->to[i] = field->from[i] | (uint8_t)(bits < 8 ? 0xff >> bits : 0);
}

/*
 * Linear misses have the hit's prefix length, so that the rules differ in nothing but a value; there
 * are 128 such prefixes, over and over. Sets need as many as they have elements: every other /25.
 */
static void add_source4(const struct nft *nft, struct nft_value *value, int index)
{
	static const uint8_t hit[] = {198, 18};
	struct nft_field *field = add(value, NFT_SOURCE, 4);
	bool linear = nft->site->spec->structure == FILTER_LINEAR;

	if (index == NFT_HIT) {
		memcpy(field->from, hit, sizeof(hit));
	} else {
		field->from[0] = 10;
		field->from[1] = (uint8_t)(linear ? index << 1 : index >> 8);
		field->from[2] = (uint8_t)(linear ? 0 : index);
	}
	end_prefix(field, linear || index == NFT_HIT ? 15 : 25);
}

static void add_source6(struct nft_value *value, int index)
{
	static const uint8_t hit[] = {0x20, 0x01, 0x00, 0x02};
	struct nft_field *field = add(value, NFT_SOURCE, 16);

	field->ipv6 = true;
	if (index == NFT_HIT) {
		memcpy(field->from, hit, sizeof(hit));
	} else {
		field->from[0] = 0xfd;
		/* Every other /48: intervals that touch would not be told apart. */
		field->from[3] = (uint8_t)(index >> 15);
		field->from[4] = (uint8_t)(index >> 7);
		field->from[5] = (uint8_t)(index << 1);
	}
	end_prefix(field, 48);
}

static void add_source(const struct nft *nft, struct nft_value *value, bool ipv6, int index)
{
	if (ipv6)
		add_source6(value, index);
	else
		add_source4(nft, value, index);
}

/*
 * Rules compare what could be otherwise. A set looks at every bit of a key whatever the element says,
 * and takes a range as the prefixes that it is made of: many, were it not the whole.
 */
static void add_destination(struct nft_value *value, bool ipv6, bool any)
{
	struct nft_field *field = add(value, NFT_DESTINATION, ipv6 ? 16 : 4);

	field->ipv6 = ipv6;
	memset(field->to, 0xff, field->len);
	if (any)
		return;
	field->from[field->len - 1] = 1;
	field->to[0] = ipv6 ? 0xfe : UNICAST_END;
}

void nft_value(const struct nft *nft, unsigned int variant, int index, struct nft_value *ret)
{
	const uint16_t port = (uint16_t)(index == NFT_HIT ? LAB_TEST_PORT : MISS_PORT + index);
	const bool second = variant, any = nft->site->spec->structure != FILTER_LINEAR;

	ret->n = 0;
	switch (nft->site->spec->match) {
	case FILTER_PORT:
		add_byte(ret, NFT_PROTOCOL, second ? IPPROTO_TCP : IPPROTO_UDP,
			 second ? IPPROTO_TCP : IPPROTO_UDP);
		add_port(ret, NFT_TO_PORT, port, port);
		break;
	case FILTER_PREFIX:
		add_family(nft, ret, second);
		add_source(nft, ret, second, index);
		break;
	case FILTER_TUPLE:
		add_family(nft, ret, second);
		/* All fields of a rule are looked at if only the last differs. Sets are not so used. */
		add_source(nft, ret, second, any ? index : NFT_HIT);
		add_destination(ret, second, any);
		add_byte(ret, NFT_PROTOCOL, IPPROTO_TCP, IPPROTO_UDP);
		add_port(ret, NFT_FROM_PORT, !any, UINT16_MAX);
		add_port(ret, NFT_TO_PORT, port, port);
		break;
	}
}

size_t nft_guards(const struct filter_spec *spec)
{
	return spec->match != FILTER_PORT || spec->structure == FILTER_INTERVALS;
}

static void load_part(struct nft *nft, const struct nft_field *field, uint32_t len,
		      unsigned int reg)
{
	switch (field->what) {
	case NFT_FAMILY:
		nft_meta(nft, len == 2 ? NFT_META_PROTOCOL : NFT_META_NFPROTO, reg);
		break;
	case NFT_PROTOCOL:
		nft_meta(nft, NFT_META_L4PROTO, reg);
		break;
	case NFT_SOURCE:
		nft_payload(nft, NFT_PAYLOAD_NETWORK_HEADER, field->ipv6 ? 8 : 12, len, reg);
		break;
	case NFT_DESTINATION:
		nft_payload(nft, NFT_PAYLOAD_NETWORK_HEADER, field->ipv6 ? 24 : 16, len, reg);
		break;
	case NFT_FROM_PORT:
		nft_payload(nft, NFT_PAYLOAD_TRANSPORT_HEADER, 0, len, reg);
		break;
	case NFT_TO_PORT:
		nft_payload(nft, NFT_PAYLOAD_TRANSPORT_HEADER, 2, len, reg);
		break;
	}
}

void nft_load(struct nft *nft, const struct nft_field *field, unsigned int reg)
{
	load_part(nft, field, field->len, reg);
}

/*
 * Bits that are the same at both ends, if all after them are 0 and then 1: the field is a prefix.
 * -1: it is not.
 */
static int prefix_of(const struct nft_field *field)
{
	const int bits = 8 * field->len;
	int same = 0;

	while (same < bits &&
	       !((field->from[same / 8] ^ field->to[same / 8]) >> (7 - same % 8) & 1))
		same++;
	for (int b = same; b < bits; b++)
		if (field->from[b / 8] >> (7 - b % 8) & 1 || !(field->to[b / 8] >> (7 - b % 8) & 1))
			return -1;
	return same;
}

/* As the nft command writes them: whole bytes are compared alone, odd bits under a mask. */
void nft_compare(struct nft *nft, const struct nft_field *field)
{
	const int bits = prefix_of(field);
	struct nft_field mask = {.len = field->len};

	if (bits < 0) {
		nft_load(nft, field, 0);
		nft_range(nft, field->from, field->to, field->len);
		return;
	}
	if (bits % 8 == 0) {
		load_part(nft, field, (uint32_t)bits / 8, 0);
		nft_cmp(nft, NFT_CMP_EQ, field->from, (uint32_t)bits / 8);
		return;
	}
	nft_load(nft, field, 0);
	memset(mask.from, 0, sizeof(mask.from));
	end_prefix(&mask, (unsigned int)bits);
	for (size_t i = 0; i < field->len; i++)
		mask.to[i] = (uint8_t)~mask.to[i];
	nft_mask(nft, mask.to, field->len);
	nft_cmp(nft, NFT_CMP_EQ, field->from, field->len);
}
