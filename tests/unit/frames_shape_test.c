/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes and genomes, tuples, and whole frames with their checksums recomputed from the bytes. */
#include "load/frames_shape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_genomes(void **state)
{
	static const uint16_t want[] = {64, 64, 64, 1280, 1518, 1518};
	uint16_t sizes[FRAMES_SIZES];
	size_t n;

	(void)state;
	assert_int_equal(frames_sizes("aaafgz", 1500, sizes, &n, NULL), 0);
	assert_int_equal(n, 6);
	assert_memory_equal(sizes, want, sizeof(want));
	assert_int_equal(frames_sizes("65", 1500, sizes, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(sizes[0], 65);
}

static void test_imix(void **state)
{
	uint16_t sizes[FRAMES_SIZES];
	size_t n, small = 0, medium = 0, large = 0, run = 0;

	(void)state;
	assert_int_equal(frames_sizes("imix", 1500, sizes, &n, NULL), 0);
	assert_int_equal(n, 48);
	for (size_t i = 0; i < n; i++) {
		small += sizes[i] == 64;
		medium += sizes[i] == 570;
		large += sizes[i] == 1518;
		run = sizes[i] == 64 ? run + 1 : 0;
		assert_true(run <= 3); /* evenly mixed */
	}
	assert_int_equal(small, 28);
	assert_int_equal(medium, 16);
	assert_int_equal(large, 4);
}

static void refused(const char *size, int proto, uint64_t vlan, bool v6, uint64_t mtu,
		    const char *text)
{
	char copy[80];
	struct frames_options options = {.size = copy, .flows = 1, .proto = proto, .vlan = vlan};
	struct err err = {0};

	strcpy(copy, size);
	assert_int_equal(frames_sizes_check(&options, v6, mtu, &err), -EINVAL);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void test_bad_sizes(void **state)
{
	char ok[] = "64";
	const struct frames_options options = {.size = ok, .flows = 1};

	(void)state;
	refused("63", 0, 0, false, 0, "size 63");
	refused("9019", 0, 0, false, 0, "64 to 9018");
	refused("64x", 0, 0, false, 0, "'64x'");
	refused("", 0, 0, false, 0, "''");
	refused("aaax", 0, 0, false, 0, "genome");
	refused("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 0, false, 0,
		"64 letters");
	refused("64", 0, 0, true, 0, "IPv6 need 84");
	refused("64", 1, 0, false, 0, "TCP over IPv4 need 76");
	refused("95", 1, 0, true, 0, "need 96");
	refused("64", 0, 1, false, 0, "with a tag need 68");
	refused("imix", 0, 0, true, 0, "need 84");
	refused("1519", 0, 0, false, 1500, "MTU 1500");
	refused("1523", 0, 1, false, 1500, "1522");
	refused("h", 0, 0, false, 1500, "size 2112");
	assert_int_equal(frames_sizes_check(&options, false, 1500, NULL), 0);
}

static int order(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void test_tuples_are_distinct(void **state)
{
	const uint32_t seeds[] = {0, 1, 0xdeadbeef};
	uint32_t *tuples = calloc(FRAMES_FLOWS_MAX, sizeof(*tuples));

	(void)state;
	assert_non_null(tuples);
	for (size_t s = 0; s < 3; s++) {
		for (uint32_t i = 0; i < FRAMES_FLOWS_MAX; i++) {
			tuples[i] = frames_tuple(i, seeds[s]);
			assert_true(tuples[i] < 1u << 31);
		}
		qsort(tuples, FRAMES_FLOWS_MAX, sizeof(*tuples), order);
		for (uint32_t i = 1; i < FRAMES_FLOWS_MAX; i++)
			assert_true(tuples[i] != tuples[i - 1]);
	}
	free(tuples);
}

static void test_flows_are_split(void **state)
{
	struct frames_flows flows[FRAMES_STREAMS];
	const struct frames_options ten = {.flows = 10, .order = FRAMES_SEQUENTIAL};
	const struct frames_options two = {.flows = 2, .order = FRAMES_RANDOM};

	(void)state;
	frames_split(&ten, 3, flows);
	assert_int_equal(flows[0].first, 0);
	assert_int_equal(flows[0].n, 4);
	assert_int_equal(flows[1].first, 4);
	assert_int_equal(flows[1].n, 3);
	assert_int_equal(flows[2].first, 7);
	assert_int_equal(flows[2].n, 3);
	for (uint64_t seq = 0; seq < 12; seq++)
		assert_int_equal(frames_flow(&flows[0], seq), seq % 4);
	frames_split(&two, 3, flows);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(flows[i].n, 1);
		assert_int_equal(flows[i].first, i % 2);
		assert_int_equal(frames_flow(&flows[i], 12345), 0);
	}
}

static void test_random_order_reaches_every_flow(void **state)
{
	const struct frames_flows flows = {.n = 100, .order = FRAMES_RANDOM, .seed = 7};
	unsigned int seen[100] = {0};

	(void)state;
	for (uint64_t seq = 0; seq < 100000; seq++) {
		assert_true(frames_flow(&flows, seq) < 100);
		seen[frames_flow(&flows, seq)]++;
	}
	for (size_t i = 0; i < 100; i++)
		assert_in_range(seen[i], 700, 1300);
}

/* RFC 1071, from the bytes. */
static uint32_t add(uint32_t sum, const unsigned char *at, size_t len)
{
	for (size_t i = 0; i < len; i += 2)
		sum += (uint32_t)at[i] << 8 | (i + 1 < len ? at[i + 1] : 0);
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)sum;
}

static unsigned int get16(const unsigned char *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static void check_frame(const struct frames_look *look, const unsigned char *frame, uint32_t bytes)
{
	const struct frames_shape *shape = &look->shape;
	const unsigned char *ip = frame + shape->l3, *l4 = frame + shape->l4;
	const uint32_t l4_len = bytes - shape->l4;
	const size_t addresses = shape->v6 ? 8 : 12;
	uint32_t pseudo = (shape->tcp ? 6 : 17) + l4_len;

	if (shape->v6) {
		assert_int_equal(get16(ip + 4), l4_len);
		assert_int_equal(ip[7], 64);
	} else {
		assert_int_equal(get16(ip + 2), bytes - shape->l3);
		assert_int_equal(ip[8], 64);
		assert_int_equal(fold(add(0, ip, 20)), 0xffff);
		assert_int_equal(ip[12], 198);
		assert_int_equal(ip[13], 19);
	}
	if (!shape->tcp)
		assert_int_equal(get16(l4 + 4), l4_len);
	assert_int_equal(get16(l4 + 2), 9);
	assert_true(get16(l4) >= 0x8000);
	if (!shape->tcp && !shape->v6) {
		assert_int_equal(get16(l4 + 6), 0);
		return;
	}
	pseudo = add(pseudo, ip + addresses, shape->v6 ? 32 : 8);
	assert_int_equal(fold(add(pseudo, l4, l4_len)), 0xffff);
}

/* Frames of every kind, size and flow are what a host would accept, also when a page comes back used. */
static void check_kind(bool v6, int proto, uint64_t vlan, const char *size, uint64_t flows)
{
	char copy[16];
	const struct frames_options options = {
		.size = copy, .flows = flows, .proto = proto, .vlan = vlan, .dscp = 46, .seed = 3};
	struct frames_path path = {.mtu = 1500, .target_mac = {2, 1}, .source_mac = {2, 2}};
	struct frames_look look;
	struct err err = {0};

	strcpy(copy, size);
	path.to.ss_family = v6 ? AF_INET6 : AF_INET;
	if (v6)
		inet_pton(AF_INET6, "2001:2::1:2", &((struct sockaddr_in6 *)&path.to)->sin6_addr);
	else
		inet_pton(AF_INET, "198.18.0.2", &((struct sockaddr_in *)&path.to)->sin_addr);
	assert_int_equal(frames_look_make(&options, &path, 9, 1, &look, &err), 0);
	for (uint64_t seq = 0; seq < 200; seq++) {
		const struct frames_size *s = &look.sizes[seq % look.n_sizes];
		const uint32_t flow = frames_flow(&look.flows[0], seq);
		const uint32_t tuple =
			look.shape.many_flows ? frames_tuple(flow, look.seed) : look.shape.tuple;

		look.frame[look.shape.l3 + (v6 ? 7 : 8)]--; /* a router was here */
		look.frame[0] ^= 0x55;
		frames_write(&look.shape, s, tuple, FRAMES_BE64(seq * 0x123456789abcdULL),
			     FRAMES_BE64(seq << 40), FRAMES_BE16(1), look.frame);
		check_frame(&look, look.frame, s->bytes);
		assert_int_equal(look.frame[0], 2);
	}
	frames_look_release(&look);
}

static void test_frames(void **state)
{
	(void)state;
	for (int v6 = 0; v6 < 2; v6++)
		for (int proto = 0; proto < 2; proto++)
			for (uint64_t vlan = 0; vlan < 2; vlan++) {
				check_kind(v6, proto, vlan, "101", 1);
				check_kind(v6, proto, vlan, "100", 1000);
				check_kind(v6, proto, vlan, "bgc", 1);
				check_kind(v6, proto, vlan, "gb", 7);
			}
	check_kind(false, 0, 0, "64", 1);
	check_kind(false, 0, 0, "imix", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_genomes),
		cmocka_unit_test(test_imix),
		cmocka_unit_test(test_bad_sizes),
		cmocka_unit_test(test_tuples_are_distinct),
		cmocka_unit_test(test_flows_are_split),
		cmocka_unit_test(test_random_order_reaches_every_flow),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
