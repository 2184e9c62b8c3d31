/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the addresses of links: reads the user's prefixes, plans the rest around them. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/plan.h"

/* A prefix of either family; IPv4 uses the first four bytes. */
struct subnet {
	uint8_t first[16], last[16];
	unsigned int len;
	size_t link;
};

/* What differs between the families. RFC 2544 and RFC 5180 set these prefixes aside for us. */
static const struct family {
	int af;
	unsigned int bytes;
	const char *key, *pool;
	unsigned int pool_len, planned_len, len_max;
} families[] = {
	/* A /30, not a /31: .1 and .2 read well, and a million of them fit no lab anyway. */
	{AF_INET, 4, "net", "198.18.0.0", 15, 30, 30},
	{AF_INET6, 16, "net6", "2001:2::", 48, 64, 126},
};

static void set_last(struct subnet *net, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		unsigned int fixed = net->len > 8 * i ? net->len - 8 * i : 0;

		net->last[i] = net->first[i] | (fixed >= 8 ? 0 : (uint8_t)(0xff >> fixed));
	}
}

static bool clear_host_bits(struct subnet *net, unsigned int bytes)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		unsigned int fixed = net->len > 8 * i ? net->len - 8 * i : 0;
		uint8_t host = fixed >= 8 ? 0 : (uint8_t)(0xff >> fixed);

		any |= net->first[i] & host;
		net->first[i] &= (uint8_t)~host;
	}
	return any;
}

static bool overlap(const struct subnet *a, const struct subnet *b, unsigned int bytes)
{
	return memcmp(a->first, b->last, bytes) <= 0 && memcmp(b->first, a->last, bytes) <= 0;
}

/* Prefixes whose addresses no host can have: this network, loopback, link-local, multicast. */
static bool for_hosts(const struct subnet *net, const struct family *fam)
{
	static const struct {
		int af;
		struct subnet net;
	} kept[] = {
		{AF_INET, {.first = {0}, .last = {0, 255, 255, 255}}},
		{AF_INET, {.first = {127}, .last = {127, 255, 255, 255}}},
		{AF_INET, {.first = {224}, .last = {255, 255, 255, 255}}},
		{AF_INET6, {.first = {0}, .last = {[0 ... 15] = 0}}},
		{AF_INET6, {.first = {[15] = 1}, .last = {[15] = 1}}},
		{AF_INET6, {.first = {0xfe, 0x80}, .last = {0xfe, 0xbf, [2 ... 15] = 0xff}}},
		{AF_INET6, {.first = {0xff}, .last = {[0 ... 15] = 0xff}}},
	};
	size_t i;

	for (i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (kept[i].af == fam->af && overlap(net, &kept[i].net, fam->bytes))
			return false;
	return true;
}

static int parse(const struct lab_plan *plan, const struct family *fam, size_t l, const char *text,
		 struct subnet *ret, struct err *err)
{
	const char *slash = strchr(text, '/'), *name = plan->wires[l].name;
	struct mark mark = plan->spec->links[l].mark;
	char addr[INET6_ADDRSTRLEN] = "", *end = addr;
	struct subnet net = {.link = l};
	unsigned long len = 0;

	if (slash && (size_t)(slash - text) < sizeof(addr))
		memcpy(addr, text, (size_t)(slash - text));
	if (slash && slash[1] >= '0' && slash[1] <= '9')
		len = strtoul(slash + 1, &end, 10);
	if (!len || *end || len > 8UL * fam->bytes || inet_pton(fam->af, addr, net.first) != 1)
		return err_at(err, mark, EINVAL, "%s '%.64s' of link '%s' is no IPv%d prefix",
			      fam->key, text, name, fam->af == AF_INET ? 4 : 6);
	net.len = (unsigned int)len;
	if (clear_host_bits(&net, fam->bytes)) {
		inet_ntop(fam->af, net.first, addr, sizeof(addr));
		return err_at(err, mark, EINVAL,
			      "%s '%.64s' of link '%s' has host bits set; did you mean '%s/%u'",
			      fam->key, text, name, addr, net.len);
	}
	set_last(&net, fam->bytes);
	if (net.len > fam->len_max)
		return err_at(err, mark, EINVAL,
			      "%s '%.64s' of link '%s' is too small: two ends need a /%u", fam->key,
			      text, name, fam->len_max);
	if (!for_hosts(&net, fam))
		return err_at(err, mark, EINVAL,
			      "%s '%.64s' of link '%s' has addresses that no host may have",
			      fam->key, text, name);
	*ret = net;
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct subnet *x = a, *y = b;
	int order = memcmp(x->first, y->first, sizeof(x->first));

	return order ? order : (x->link > y->link) - (x->link < y->link);
}

/* Sorted by first address, an overlap always shows against the furthest end seen so far. */
static int check_overlaps(const struct lab_plan *plan, const struct family *fam,
			  struct subnet *nets, size_t n, struct err *err)
{
	const struct subnet *widest = nets;
	size_t i, a, b;

	qsort(nets, n, sizeof(*nets), by_first);
	for (i = 1; i < n; i++) {
		if (overlap(widest, &nets[i], fam->bytes)) {
			a = widest->link < nets[i].link ? widest->link : nets[i].link;
			b = widest->link < nets[i].link ? nets[i].link : widest->link;
			return err_at(err, plan->spec->links[b].mark, EINVAL,
				      "%s of link '%s' overlaps that of link '%s'", fam->key,
				      plan->wires[b].name, plan->wires[a].name);
		}
		if (memcmp(nets[i].last, widest->last, fam->bytes) > 0)
			widest = &nets[i];
	}
	return 0;
}

static void assign(struct lab_plan *plan, const struct family *fam, const struct subnet *net)
{
	struct wire *wire = &plan->wires[net->link];
	unsigned int side;

	if (fam->af == AF_INET)
		wire->prefix = (uint8_t)net->len;
	else
		wire->prefix6 = (uint8_t)net->len;
	for (side = 0; side < 2; side++) {
		void *addr = fam->af == AF_INET ? (void *)&wire->end[side].addr
						: (void *)&wire->end[side].addr6;

		memcpy(addr, net->first, fam->bytes);
		((uint8_t *)addr)[fam->bytes - 1] += (uint8_t)(side + 1);
	}
}

/* Block number `block` of the family's pool. */
static struct subnet planned(const struct family *fam, uint32_t block, size_t link)
{
	struct subnet net = {.len = fam->planned_len, .link = link};
	unsigned int i;
	uint64_t add = (uint64_t)block << (fam->bytes == 4 ? 32 - fam->planned_len : 0);
	/* The block number ends where the planned prefix ends: byte 3 for IPv4, byte 7 for IPv6. */
	unsigned int low = fam->bytes == 4 ? 3 : 7;

	inet_pton(fam->af, fam->pool, net.first);
	for (i = 0; i < 4; i++)
		net.first[low - i] |= (uint8_t)(add >> (8 * i));
	set_last(&net, fam->bytes);
	return net;
}

static int plan_family(struct lab_plan *plan, const struct family *fam, struct err *err)
{
	const struct lab_spec *spec = plan->spec;
	uint32_t block = 0, blocks = UINT32_C(1) << (fam->planned_len - fam->pool_len);
	struct subnet *nets = calloc(spec->n_links + 1, sizeof(*nets));
	size_t n = 0, next = 0, l;
	int rc = 0;

	if (!nets)
		return err_sys(err, ENOMEM, "cannot plan the lab");
	for (l = 0; l < spec->n_links && !rc; l++) {
		const struct link_spec *link = &spec->links[l];
		const char *text = fam->af == AF_INET ? link->net : link->net6;

		if (!text)
			continue;
		if (!plan_link_has(plan, l, fam->af))
			rc = err_at(err, link->mark, EINVAL,
				    "link '%s' has a net6, but IPv6 needs an mtu of %d",
				    plan->wires[l].name, IPV6_MTU_MIN);
		else
			rc = parse(plan, fam, l, text, &nets[n], err);
		if (!rc)
			assign(plan, fam, &nets[n++]);
	}
	if (!rc && n)
		rc = check_overlaps(plan, fam, nets, n, err);
	/* Planned prefixes step aside: both lists are sorted, so one pass walks them together. */
	for (l = 0; l < spec->n_links && !rc; l++) {
		struct subnet net;

		if ((fam->af == AF_INET ? spec->links[l].net : spec->links[l].net6) ||
		    !plan_link_has(plan, l, fam->af))
			continue;
		for (; block < blocks; block++) {
			net = planned(fam, block, l);
			while (next < n && memcmp(nets[next].last, net.first, fam->bytes) < 0)
				next++;
			if (next == n || !overlap(&nets[next], &net, fam->bytes))
				break;
		}
		if (block++ < blocks)
			assign(plan, fam, &net);
		else
			rc = err_at(err, spec->links[l].mark, EINVAL,
				    "no prefix of %s/%u is left for link '%s'", fam->pool,
				    fam->pool_len, plan->wires[l].name);
	}
	free(nets);
	return rc;
}

int plan_subnets(struct lab_plan *plan, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(families) / sizeof(*families) && !rc; i++)
		rc = plan_family(plan, &families[i], err);
	return rc;
}
