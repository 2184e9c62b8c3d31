/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests which frames the filter program takes for a hit, frame by frame without a network. */
#include "tests/lab/filter_lab.h"

#include <bpf/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include "topo/filter/drop.h"

/* A frame built from the outside in. */
struct frame {
	unsigned char bytes[128];
	size_t len;
};

static void put(struct frame *frame, const void *bytes, size_t len)
{
	memcpy(frame->bytes + frame->len, bytes, len);
	frame->len += len;
}

static void put_16(struct frame *frame, uint16_t value)
{
	value = htons(value);
	put(frame, &value, sizeof(value));
}

static void put_ethernet(struct frame *frame, uint16_t vlan, uint16_t type)
{
	static const unsigned char macs[12] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};

	put(frame, macs, sizeof(macs));
	if (vlan) {
		put_16(frame, vlan);
		put_16(frame, 5);
	}
	put_16(frame, type);
}

static void put_ipv4(struct frame *frame, const char *src, int words, uint16_t fragment,
		     unsigned char protocol)
{
	const unsigned char start[] = {(unsigned char)(0x40 | words), 0, 0, 46, 0, 0};
	const unsigned char zeros[40] = {0};
	struct in_addr addr;

	put(frame, start, sizeof(start));
	put_16(frame, fragment);
	put(frame, (unsigned char[]){64, protocol, 0, 0}, 4);
	inet_pton(AF_INET, src, &addr);
	put(frame, &addr, sizeof(addr));
	inet_pton(AF_INET, "10.1.2.3", &addr);
	put(frame, &addr, sizeof(addr));
	put(frame, zeros, (size_t)words * 4 - 20);
}

static void put_ipv6(struct frame *frame, const char *src, unsigned char protocol)
{
	const unsigned char start[] = {0x60, 0, 0, 0, 0, 26, protocol, 64};
	struct in6_addr addr;

	put(frame, start, sizeof(start));
	inet_pton(AF_INET6, src, &addr);
	put(frame, &addr, sizeof(addr));
	inet_pton(AF_INET6, "fd00::1", &addr);
	put(frame, &addr, sizeof(addr));
}

static void put_l4(struct frame *frame, uint16_t dport)
{
	const unsigned char zeros[22] = {0};

	put_16(frame, 40000);
	put_16(frame, dport);
	put(frame, zeros, sizeof(zeros));
}

enum { NO_PORT = 1 << 0, NO_PREFIX = 1 << 1, NO_TUPLE = 1 << 2, NOTHING = 7 };

/* One frame, and the matches that it does not hit. */
static const struct sample {
	const char *what;
	int version;
	const char *src;
	uint16_t vlan, fragment, dport;
	int words;
	unsigned char protocol;
	size_t cut; /* bytes that are left of it; 0: all */
	int misses;
} samples[] = {
	{"UDP", 4, "198.18.0.1", 0, 0, 9, 5, IPPROTO_UDP, 0, 0},
	{"the other half of the prefix", 4, "198.19.255.254", 0, 0, 9, 5, IPPROTO_UDP, 0, 0},
	{"TCP", 4, "198.18.0.1", 0, 0, 9, 5, IPPROTO_TCP, 0, 0},
	{"UDP in a VLAN", 4, "198.18.0.1", ETH_P_8021Q, 0, 9, 5, IPPROTO_UDP, 0, 0},
	{"UDP in a provider's VLAN", 4, "198.18.0.1", ETH_P_8021AD, 0, 9, 5, IPPROTO_UDP, 0, 0},
	{"IPv4 options", 4, "198.18.0.1", 0, 0, 9, 15, IPPROTO_UDP, 0, 0},
	{"first fragment", 4, "198.18.0.1", 0, 0x2000, 9, 5, IPPROTO_UDP, 0, 0},
	{"later fragment", 4, "198.18.0.1", 0, 0x0001, 9, 5, IPPROTO_UDP, 0, NO_PORT | NO_TUPLE},
	{"other port", 4, "198.18.0.1", 0, 0, 10, 5, IPPROTO_UDP, 0, NO_PORT | NO_TUPLE},
	{"port in the other byte", 4, "198.18.0.1", 0, 0, 9 << 8, 5, IPPROTO_UDP, 0,
	 NO_PORT | NO_TUPLE},
	{"other source", 4, "198.20.0.1", 0, 0, 9, 5, IPPROTO_UDP, 0, NO_PREFIX | NO_TUPLE},
	{"ICMP", 4, "198.18.0.1", 0, 0, 9, 5, IPPROTO_ICMP, 0, NO_PORT | NO_TUPLE},
	{"SCTP", 4, "198.18.0.1", 0, 0, 9, 5, IPPROTO_SCTP, 0, NO_PORT | NO_TUPLE},
	{"cut in the ports", 4, "198.18.0.1", 0, 0, 9, 5, IPPROTO_UDP, 14 + 20 + 3,
	 NO_PORT | NO_TUPLE},
	{"cut in the IPv4 header", 4, "198.18.0.1", 0, 0, 9, 5, IPPROTO_UDP, 14 + 19, NOTHING},
	{"UDP, IPv6", 6, "2001:2::1", 0, 0, 9, 0, IPPROTO_UDP, 0, 0},
	{"TCP, IPv6", 6, "2001:2:0:ffff::1", 0, 0, 9, 0, IPPROTO_TCP, 0, 0},
	{"UDP in a VLAN, IPv6", 6, "2001:2::1", ETH_P_8021Q, 0, 9, 0, IPPROTO_UDP, 0, 0},
	{"other port, IPv6", 6, "2001:2::1", 0, 0, 8, 0, IPPROTO_UDP, 0, NO_PORT | NO_TUPLE},
	{"other source, IPv6", 6, "2001:2:1::1", 0, 0, 9, 0, IPPROTO_UDP, 0, NO_PREFIX | NO_TUPLE},
	{"ICMP, IPv6", 6, "2001:2::1", 0, 0, 9, 0, IPPROTO_ICMPV6, 0, NO_PORT | NO_TUPLE},
	{"cut in the ports, IPv6", 6, "2001:2::1", 0, 0, 9, 0, IPPROTO_UDP, 14 + 40 + 3,
	 NO_PORT | NO_TUPLE},
	{"cut in the IPv6 header", 6, "2001:2::1", 0, 0, 9, 0, IPPROTO_UDP, 14 + 39, NOTHING},
	{"port of a rule that nothing hits", 4, "198.18.0.1", 0, 0, 1, 5, IPPROTO_UDP, 0,
	 NO_PORT | NO_TUPLE},
};

enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static struct frame frame_of(const struct sample *sample)
{
	struct frame frame = {0};

	put_ethernet(&frame, sample->vlan, sample->version == 4 ? ETH_P_IP : ETH_P_IPV6);
	if (sample->version == 4)
		put_ipv4(&frame, sample->src, sample->words, sample->fragment, sample->protocol);
	else
		put_ipv6(&frame, sample->src, sample->protocol);
	put_l4(&frame, sample->dport);
	if (sample->cut)
		frame.len = sample->cut;
	return frame;
}

static struct drop *load(const char *options, enum drop_hook hook)
{
	struct filter_spec spec = filter_spec_of(options);
	struct err err = {""};
	struct drop *drop = NULL;

	if (drop_load(&spec, hook, &drop, &err))
		fail_msg("%s: %s", options, err.text);
	filter_spec_release(&spec);
	return drop;
}

static uint32_t run(const struct drop *drop, const struct frame *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame->bytes,
		    .data_size_in = (uint32_t)frame->len, .repeat = 1);
	int r = bpf_prog_test_run_opts(drop_fd(drop), &opts);

	if (r)
		fail_msg("cannot run the program on %zu bytes: %s", frame->len, strerror(-r));
	return opts.retval;
}

/* Every sample through one program: what it returns and what it counts. */
static void samples_through(const char *options, enum drop_hook hook, int match)
{
	const uint32_t hit = hook == DROP_ON_XDP ? XDP_DROP : TC_ACT_SHOT;
	const uint32_t pass = hook == DROP_ON_XDP ? XDP_PASS : (uint32_t)TC_ACT_UNSPEC;
	struct drop *drop = load(options, hook);
	struct filter_counters counters;
	uint64_t hits = 0;

	for (size_t i = 0; i < SAMPLES; i++) {
		const struct frame frame = frame_of(&samples[i]);
		const bool hits_it = !(samples[i].misses & 1 << match);
		uint32_t verdict;

		/* The kernel makes no packet without its IP header. */
		if (hook == DROP_ON_TC && samples[i].misses == NOTHING)
			continue;
		verdict = run(drop, &frame);

		if (verdict != (hits_it ? hit : pass))
			fail_msg("%s: %s: verdict %d", options, samples[i].what, (int)verdict);
		hits += hits_it;
		drop_read(drop, &counters);
		assert_int_equal(counters.matched, hits);
		assert_int_equal(counters.dropped, hits);
	}
	drop_free(drop);
}

static void test_frames(void **state)
{
	static const struct {
		const char *options;
		int match;
	} programs[] = {
		{"rules=1 match=port", FILTER_PORT},
		{"rules=1 match=prefix", FILTER_PREFIX},
		{"rules=1 match=tuple", FILTER_TUPLE},
		{"rules=40 match=port", FILTER_PORT},
		{"rules=40 match=prefix", FILTER_PREFIX},
		{"rules=40 match=tuple", FILTER_TUPLE},
		{"rules=40 match=port structure=bpf-hash", FILTER_PORT},
		{"rules=40 match=tuple structure=bpf-hash", FILTER_TUPLE},
		{"rules=40 match=prefix structure=bpf-lpm", FILTER_PREFIX},
	};

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		samples_through(programs[i].options, DROP_ON_XDP, programs[i].match);
		samples_through(programs[i].options, DROP_ON_TC, programs[i].match);
	}
}

/* Legal, and nothing to look at: ARP, an unfinished tag. */
static void test_other_frames(void **state)
{
	struct frame arp = {0}, tag = {0};
	struct drop *drop;

	(void)state;
	NEED_ROOT();
	drop = load("rules=1 match=prefix", DROP_ON_XDP);
	put_ethernet(&arp, 0, ETH_P_ARP);
	put_l4(&arp, 9);
	assert_int_equal(run(drop, &arp), XDP_PASS);
	put_ethernet(&tag, ETH_P_8021Q, ETH_P_IP);
	tag.len -= 2;
	assert_int_equal(run(drop, &tag), XDP_PASS);
	drop_free(drop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_other_frames),
	};

	return cmocka_run_group_tests_name("filter program", tests, NULL, NULL);
}
