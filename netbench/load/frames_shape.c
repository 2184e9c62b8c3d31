/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the look of test frames: the order of sizes, the headers, the tuples of the flows. */
#include "load/frames_shape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

_Static_assert(sizeof(struct frames_payload) == FRAMES_PAYLOAD, "the payload of a 64-byte frame");
_Static_assert(ETH_HLEN + 4 + sizeof(struct ipv6hdr) + sizeof(struct tcphdr) <=
		       8 * FRAMES_HEADER_WORDS,
	       "the longest header must fit");

static const struct {
	uint16_t size;
	unsigned int weight;
} imix[] = {{64, 28}, {570, 16}, {1518, 4}};

enum { IMIX_WEIGHTS = 48, IMIX_SIZES = sizeof(imix) / sizeof(*imix) };

/* Each size takes the place where it is furthest behind its share. */
static size_t imix_order(uint16_t ret[FRAMES_SIZES])
{
	unsigned int placed[IMIX_SIZES] = {0};

	for (size_t i = 0; i < IMIX_WEIGHTS; i++) {
		size_t best = 0;
		long most = -1;

		for (size_t k = 0; k < IMIX_SIZES; k++) {
			const long behind =
				(long)((i + 1) * imix[k].weight) - (long)placed[k] * IMIX_WEIGHTS;

			if (placed[k] < imix[k].weight && behind > most) {
				most = behind;
				best = k;
			}
		}
		placed[best]++;
		ret[i] = imix[best].size;
	}
	return IMIX_WEIGHTS;
}

/* RFC 6985 §4; z is the MTU. */
static uint16_t genome_size(char letter, uint64_t mtu)
{
	static const uint16_t sizes[] = {64, 128, 256, 512, 1024, 1280, 1518, 2112, 9000};

	if (letter == 'z')
		return (uint16_t)(mtu ? mtu + FRAME_HEADER + FRAMES_FCS : 0);
	return letter >= 'a' && letter <= 'i' ? sizes[letter - 'a'] : 0;
}

static int plain_size(const char *text, uint16_t *ret, struct err *err)
{
	char *end;
	const unsigned long size = strtoul(text, &end, 10);

	if (!*text || *end)
		return err_set(err, EINVAL,
			       "'size' wants bytes, 'imix' or a genome of the letters a to i and "
			       "z, not '%.32s'",
			       text);
	if (size < FRAME_SIZE_MIN || size > FRAME_SIZE_MAX)
		return err_set(err, EINVAL, "size %.32s: a frame has %d to %d bytes with its FCS",
			       text, FRAME_SIZE_MIN, FRAME_SIZE_MAX);
	*ret = (uint16_t)size;
	return 0;
}

int frames_sizes(const char *option, uint64_t mtu, uint16_t ret[FRAMES_SIZES], size_t *ret_n,
		 struct err *err)
{
	const char *text = option ? option : ""; /* an empty option is none */
	const size_t len = strlen(text);

	if (!strcmp(text, "imix")) {
		*ret_n = imix_order(ret);
		return 0;
	}
	*ret_n = 1;
	if (!len || strspn(text, "abcdefghiz") != len)
		return plain_size(text, ret, err);
	if (len > FRAMES_SIZES)
		return err_set(err, EINVAL, "a genome has at most %d letters, not %zu",
			       FRAMES_SIZES, len);
	for (size_t i = 0; i < len; i++)
		ret[i] = genome_size(text[i], mtu);
	*ret_n = len;
	return 0;
}

unsigned int frames_size_min(const struct frames_options *options, bool v6)
{
	return FRAME_HEADER + (options->vlan ? 4 : 0) + (v6 ? 40 : 20) + (options->proto ? 20 : 8) +
	       FRAMES_PAYLOAD + FRAMES_FCS;
}

int frames_sizes_check(const struct frames_options *options, bool v6, uint64_t mtu, struct err *err)
{
	const unsigned int least = frames_size_min(options, v6);
	/* A tag is not part of what the MTU limits. */
	const uint64_t most = mtu + FRAME_HEADER + FRAMES_FCS + (options->vlan ? 4 : 0);
	uint16_t sizes[FRAMES_SIZES];
	size_t n;
	int r = frames_sizes(options->size, mtu, sizes, &n, err);

	for (size_t i = 0; !r && i < n; i++) {
		if (sizes[i] && sizes[i] < least)
			r = err_set(
				err, EINVAL,
				"size %u is too small: headers and payload of %s over %s%s need "
				"%u bytes",
				sizes[i], options->proto ? "TCP" : "UDP", v6 ? "IPv6" : "IPv4",
				options->vlan ? " with a tag" : "", least);
		else if (mtu && sizes[i] > most)
			r = err_set(err, EINVAL,
				    "size %u is too large: a link on the way has MTU %" PRIu64
				    ", which carries frames of up to %" PRIu64 " bytes",
				    sizes[i], mtu, most);
	}
	return r;
}

void frames_split(const struct frames_options *options, size_t streams,
		  struct frames_flows ret[FRAMES_STREAMS])
{
	const uint32_t flows = options->order == FRAMES_ONE ? 1 : (uint32_t)options->flows;
	uint32_t at = 0;

	for (size_t i = 0; i < streams; i++) {
		uint32_t n = (uint32_t)(flows / streams + (i < flows % streams));

		ret[i] = (struct frames_flows){.first = n ? at : (uint32_t)(i % flows),
					       .n = n ? n : 1,
					       .order = (uint32_t)options->order,
					       .seed = (uint32_t)options->seed};
		at += n;
	}
}

/* Where the headers of a frame under construction are. */
struct draft {
	unsigned char *frame;
	uint32_t bytes;
	const struct frames_shape *shape;
};

static void draft_ethernet(const struct draft *d, const struct frames_path *path, uint16_t vlan)
{
	const uint16_t type = htons(d->shape->v6 ? ETH_P_IPV6 : ETH_P_IP),
		       tagged = htons(ETH_P_8021Q), tag = htons(vlan);
	unsigned char *at = d->frame;

	memcpy(at, path->target_mac, 6);
	memcpy(at + 6, path->source_mac, 6);
	at += 12;
	if (vlan) {
		memcpy(at, &tagged, 2);
		memcpy(at + 2, &tag, 2);
		at += 4;
	}
	memcpy(at, &type, 2);
}

static void draft_ipv4(const struct draft *d, const struct frames_path *path, uint64_t dscp)
{
	const struct sockaddr_in *to = (const struct sockaddr_in *)&path->to;
	const struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tos = (uint8_t)(dscp << 2),
		.tot_len = htons((uint16_t)(d->bytes - d->shape->l3)),
		.frag_off = htons(0x4000), /* do not fragment */
		.ttl = 64,
		.protocol = d->shape->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.daddr = to->sin_addr.s_addr,
	};

	memcpy(d->frame + d->shape->l3, &ip, sizeof(ip));
}

static void draft_ipv6(const struct draft *d, const struct frames_path *path, uint64_t dscp)
{
	const struct sockaddr_in6 *to = (const struct sockaddr_in6 *)&path->to;
	const uint32_t word = htonl(6u << 28 | (uint32_t)dscp << 22);
	struct ipv6hdr ip = {
		.payload_len = htons((uint16_t)(d->bytes - d->shape->l4)),
		.nexthdr = d->shape->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.hop_limit = 64,
	};

	memcpy(&ip, &word, sizeof(word));
	memcpy(&ip.daddr, &to->sin6_addr, sizeof(ip.daddr));
	/* 2001:2:0:8000::, above all prefixes that are planned for links */
	ip.saddr.s6_addr16[0] = htons(0x2001);
	ip.saddr.s6_addr16[1] = htons(2);
	ip.saddr.s6_addr16[3] = htons(0x8000);
	memcpy(d->frame + d->shape->l3, &ip, sizeof(ip));
}

static void draft_transport(const struct draft *d, uint16_t port, uint32_t seed)
{
	const struct udphdr udp = {.dest = htons(port),
				   .len = htons((uint16_t)(d->bytes - d->shape->l4))};
	const struct tcphdr tcp = {
		.dest = htons(port), .seq = seed, .doff = 5, .syn = 1, .window = htons(64240)};

	if (d->shape->tcp)
		memcpy(d->frame + d->shape->l4, &tcp, sizeof(tcp));
	else
		memcpy(d->frame + d->shape->l4, &udp, sizeof(udp));
}

/* The ones' complement sum of 16-bit words as they lie in memory. */
static uint32_t sum16(const unsigned char *at, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i += 2) {
		uint16_t word = 0;

		memcpy(&word, at + i, i + 1 < len ? 2 : 1);
		sum += word;
	}
	return sum;
}

static struct frames_size measure(const struct draft *d)
{
	const struct frames_shape *shape = d->shape;
	const uint16_t l4_len = (uint16_t)(d->bytes - shape->l4);
	const size_t addresses = shape->v6 ? 32 : 8;

	return (struct frames_size){
		.bytes = d->bytes,
		.ip_len = htons((uint16_t)(d->bytes - (shape->v6 ? shape->l4 : shape->l3))),
		.l4_len = htons(l4_len),
		.ip_sum = shape->v6 ? 0 : sum16(d->frame + shape->l3, sizeof(struct iphdr)),
		.l4_sum = sum16(d->frame + shape->l3 + (shape->v6 ? 8 : 12), addresses) +
			  htons(shape->tcp ? IPPROTO_TCP : IPPROTO_UDP) + htons(l4_len) +
			  sum16(d->frame + shape->l4, l4_len),
	};
}

/* Headers without source address, source port and checksums, payload of zeros, body. */
static void draft(const struct draft *d, const struct frames_options *options,
		  const struct frames_path *path, uint16_t port)
{
	const size_t head = d->shape->payload + FRAMES_PAYLOAD;
	struct rng rng;

	memset(d->frame, 0, head);
	draft_ethernet(d, path, (uint16_t)options->vlan);
	if (d->shape->v6)
		draft_ipv6(d, path, options->dscp);
	else
		draft_ipv4(d, path, options->dscp);
	draft_transport(d, port, (uint32_t)options->seed);
	/* Not compressible: what a tunnel sees of real data. */
	rng_seed(&rng, options->seed);
	for (size_t i = head; i < d->bytes; i++)
		d->frame[i] = (unsigned char)rng_next(&rng);
}

/* The header of flow 0, complete but for a checksum that covers the payload. */
static void keep_header(const struct draft *d, struct frames_look *look)
{
	struct frames_shape *shape = &look->shape;

	memset(shape->header, 0, sizeof(shape->header));
	memcpy(shape->header, d->frame, shape->payload);
	frames_write_source(shape, shape->tuple, (char *)shape->header);
	if (!shape->v6)
		FRAMES_PUT(__u16, (char *)shape->header + shape->l3 + 10,
			   frames_fold((uint64_t)look->sizes[0].ip_sum +
				       frames_address(shape, shape->tuple)));
}

int frames_look_make(const struct frames_options *options, const struct frames_path *path,
		     uint16_t port, size_t streams, struct frames_look *ret, struct err *err)
{
	struct frames_shape *shape = &ret->shape;
	uint16_t sizes[FRAMES_SIZES];
	size_t n;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = frames_sizes(options->size, path->mtu, sizes, &n, err);
	if (r)
		return r;
	ret->n_sizes = (uint32_t)n;
	ret->seed = frames_mix((uint32_t)options->seed ^ (uint32_t)(options->seed >> 32));
	ret->n_streams = streams;
	frames_split(options, streams, ret->flows);
	shape->v6 = path->to.ss_family == AF_INET6;
	shape->tcp = options->proto == 1;
	shape->many_flows = options->flows > 1 && options->order != FRAMES_ONE;
	shape->many_sizes = n > 1;
	shape->l3 = FRAME_HEADER + (options->vlan ? 4 : 0);
	shape->l4 = shape->l3 + (shape->v6 ? 40 : 20);
	shape->payload = shape->l4 + (shape->tcp ? 20 : 8);
	shape->tuple = frames_tuple(0, ret->seed);
	ret->frame = calloc(1, FRAME_SIZE_MAX);
	if (!ret->frame)
		return err_sys(err, ENOMEM, "cannot allocate a frame");
	for (size_t i = n; i-- > 0;) {
		const struct draft d = {ret->frame, sizes[i] - FRAMES_FCS, shape};

		draft(&d, options, path, port);
		ret->sizes[i] = measure(&d);
		ret->mean += (double)sizes[i] / (double)n;
		ret->longest = d.bytes > ret->longest ? d.bytes : ret->longest;
		if (!i)
			keep_header(&d, ret);
	}
	memcpy(ret->frame, shape->header, shape->payload);
	return 0;
}

void frames_look_release(struct frames_look *look)
{
	free(look->frame);
	look->frame = NULL;
}
