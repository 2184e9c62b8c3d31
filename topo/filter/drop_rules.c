/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the values in the rules. The test frames come from the benchmarking prefixes (RFC 2544,
 * RFC 5180). The rules that nothing may hit name sources that cannot send: the reserved class E
 * (RFC 1112) and the discard prefix (RFC 6666), and a protocol that is never looked at.
 */
#include "topo/filter/drop_rules.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct drop_ports ports(size_t i, bool hit)
{
	return (struct drop_ports){
		.dport = htons(hit ? LAB_TEST_PORT : (uint16_t)(i + 1)),
		.sport_min = 0,
		.sport_span = UINT16_MAX,
		.protos = hit ? DROP_UDP | DROP_TCP : DROP_OTHER,
	};
}

/* Any destination will do: the frames go to the addresses of the lab, which the user chooses. */
struct drop_rule4 drop_rule4(size_t i, bool hit)
{
	return (struct drop_rule4){
		.src = hit ? htonl(0xc6120000) : htonl(0xf0000000 | (uint32_t)i << 8),
		.src_mask = hit ? htonl(0xfffe0000) : htonl(0xffffff00),
		.ports = ports(i, hit),
	};
}

struct drop_rule6 drop_rule6(size_t i, bool hit)
{
	if (hit)
		return (struct drop_rule6){
			.src = {htonl(0x20010002)},
			.src_mask = {UINT32_MAX, htonl(0xffff0000)},
			.ports = ports(i, true),
		};
	return (struct drop_rule6){
		.src = {htonl(0x01000000), 0, htonl((uint32_t)i)},
		.src_mask = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
		.ports = ports(i, false),
	};
}

bool drop_is_hit(const struct filter_spec *spec, size_t i)
{
	return (spec->hit == FILTER_FIRST && !i) ||
	       (spec->hit == FILTER_LAST && i + 1 == spec->rules);
}

/* Room for one element more: the rule that is hit takes two elements of a hash. */
static int make_room(struct drop_table *table, size_t n, size_t key_size, size_t value_size)
{
	*table = (struct drop_table){.key_size = key_size, .value_size = value_size};
	table->keys = calloc(n + 1, key_size);
	table->values = calloc(n + 1, value_size);
	if (table->keys && table->values)
		return 0;
	drop_table_release(table);
	return -ENOMEM;
}

void drop_table_release(struct drop_table *table)
{
	free(table->keys);
	free(table->values);
	*table = (struct drop_table){0};
}

static void add(struct drop_table *table, const void *key, const void *value)
{
	memcpy(table->keys + table->n * table->key_size, key, table->key_size);
	memcpy(table->values + table->n * table->value_size, value, table->value_size);
	table->n++;
}

static void add_linear(struct drop_table *table, int version, size_t i, bool hit)
{
	const uint32_t key = (uint32_t)i;

	if (version == 4) {
		const struct drop_rule4 rule = drop_rule4(i, hit);

		add(table, &key, &rule);
	} else {
		const struct drop_rule6 rule = drop_rule6(i, hit);

		add(table, &key, &rule);
	}
}

/* An element holds one protocol. */
static void add_hash(struct drop_table *table, int version, size_t i, bool hit)
{
	static const uint16_t hitting[] = {DROP_UDP, DROP_TCP}, missing[] = {DROP_OTHER};
	const uint16_t *protos = hit ? hitting : missing;
	const uint32_t value = 1;

	for (size_t p = 0; p < (hit ? 2 : 1); p++) {
		if (version == 4) {
			const struct drop_rule4 rule = drop_rule4(i, hit);
			const struct drop_key4 key = {{rule.ports.dport, protos[p]}, rule.src, 0};

			add(table, &key, &value);
		} else {
			const struct drop_rule6 rule = drop_rule6(i, hit);
			struct drop_key6 key = {.key = {rule.ports.dport, protos[p]}};

			memcpy(key.src, rule.src, sizeof(key.src));
			add(table, &key, &value);
		}
	}
}

static uint32_t mask_bits(const __be32 *mask, size_t words)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < words; i++)
		bits += (uint32_t)__builtin_popcount(mask[i]);
	return bits;
}

static void add_lpm(struct drop_table *table, int version, size_t i, bool hit)
{
	const uint32_t value = 1;

	if (version == 4) {
		const struct drop_rule4 rule = drop_rule4(i, hit);
		const struct drop_lpm4 key = {mask_bits(&rule.src_mask, 1), rule.src};

		add(table, &key, &value);
	} else {
		const struct drop_rule6 rule = drop_rule6(i, hit);
		struct drop_lpm6 key = {.len = mask_bits(rule.src_mask, 4)};

		memcpy(key.src, rule.src, sizeof(key.src));
		add(table, &key, &value);
	}
}

static size_t hash_key_size(const struct filter_spec *spec, int version)
{
	if (spec->match == FILTER_PORT)
		return sizeof(struct drop_key);
	return version == 4 ? sizeof(struct drop_key4) : sizeof(struct drop_key6);
}

int drop_table_make(const struct filter_spec *spec, enum drop_structure structure, int version,
		    struct drop_table *ret)
{
	const bool v4 = version == 4;
	void (*add_rule)(struct drop_table *, int, size_t, bool) = add_lpm;
	size_t key_size = v4 ? sizeof(struct drop_lpm4) : sizeof(struct drop_lpm6);
	size_t value_size = sizeof(uint32_t);
	int r;

	if (structure == DROP_LINEAR) {
		add_rule = add_linear;
		key_size = sizeof(uint32_t);
		value_size = v4 ? sizeof(struct drop_rule4) : sizeof(struct drop_rule6);
	} else if (structure == DROP_HASH) {
		add_rule = add_hash;
		key_size = hash_key_size(spec, version);
	}
	r = make_room(ret, spec->rules, key_size, value_size);
	for (size_t i = 0; !r && i < spec->rules; i++)
		add_rule(ret, version, i, drop_is_hit(spec, i));
	return r;
}
