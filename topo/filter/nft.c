/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the nft stages: which hook each is, what they refuse, loading a table and reading its counter. */
#include "topo/filter/nft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libnftnl/object.h>

#include "topo/aside.h"
#include "topo/feature.h"

/* The kernel takes no more devices in a chain. */
enum { CHAIN_DEVICES_MAX = 256, TABLES_MAX = 100 };

static const uint64_t trial_ns = UINT64_C(10000000000);

struct state {
	struct nl nl;
	char node[32], table[32];
	int family;
	bool ends; /* what is counted is gone */
};

static const struct nft_hook *hook_of(const struct filter_spec *spec)
{
	static const struct {
		const char *stage;
		struct nft_hook hook;
	} hooks[] = {
		{"nft-ingress", {"ingress", "filter", NF_NETDEV_INGRESS, 0}},
		{"nft-raw", {"raw", "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_RAW}},
		{"nft-forward", {"forward", "filter", NF_INET_FORWARD, NF_IP_PRI_FILTER}},
		{"nft-input", {"input", "filter", NF_INET_LOCAL_IN, NF_IP_PRI_FILTER}},
		{"nft-output", {"output", "filter", NF_INET_LOCAL_OUT, NF_IP_PRI_FILTER}},
	};
	size_t i = 0;

	while (strcmp(hooks[i].stage, filter_of(spec)->kind.name))
		i++;
	return &hooks[i].hook;
}

static bool on_devices(const struct filter_spec *spec)
{
	return filter_of(spec) == &filter_nft_ingress;
}

static bool knows_connections(const struct filter_spec *spec)
{
	return spec->conntrack != FILTER_CT_NONE && spec->conntrack != FILTER_CT_NOTRACK;
}

static int check_options(const struct filter_spec *spec, struct err *err)
{
	if (spec->structure == FILTER_BPF_HASH || spec->structure == FILTER_BPF_LPM)
		return err_set(err, EINVAL, "structures bpf-hash and bpf-lpm are for BPF stages");
	if (spec->structure == FILTER_SET && spec->match != FILTER_PORT)
		return err_set(err, EINVAL,
			       "a hash set holds no prefixes: take structure interval-set");
	if (spec->flowtable && (filter_of(spec) != &filter_nft_forward || !knows_connections(spec)))
		return err_set(err, EINVAL,
			       "a flowtable needs stage nft-forward and conntrack tracked, "
			       "masquerade or dnat");
	if (spec->on && !on_devices(spec) && !spec->flowtable)
		return err_set(err, EINVAL, "'on' is for stages bound to devices");
	return 0;
}

static int check_site(const struct filter_site *site, struct err *err)
{
	const struct filter_spec *spec = site->spec;

	if (on_devices(spec) && site->n_devices > CHAIN_DEVICES_MAX)
		return err_at(err, spec->mark, EINVAL,
			      "%zu interfaces are more than the %d of a chain: name one with 'on'",
			      site->n_devices, CHAIN_DEVICES_MAX);
	if (spec->conntrack == FILTER_CT_MASQUERADE && !site->out)
		return err_at(err, spec->mark, EINVAL,
			      "masquerade needs a way to the last node, and this is the last node");
	if (spec->conntrack == FILTER_CT_DNAT && !site->dnat && !site->dnat6)
		return err_at(err, spec->mark, EINVAL,
			      "dnat needs a way to the last node, and this is the last node");
	return 0;
}

/* -ENOENT: there is no such table. */
static int find_table(struct nft *nft, const char *table)
{
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg;

	nlh->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = (uint8_t)nft->family;
	nfg->version = NFNETLINK_V0;
	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, table);
	return nl_query(&nft->nl, nlh, NULL, NULL, NULL, "look for", "table", NULL);
}

/* Named after the stage; a number tells filters of the same stage apart. */
static void name_table(struct nft *nft)
{
	const char *stage = filter_of(nft->site->spec)->kind.name;
	unsigned int n = 1;

	snprintf(nft->table, sizeof(nft->table), "%s", stage);
	while (n < TABLES_MAX && !find_table(nft, nft->table))
		snprintf(nft->table, sizeof(nft->table), "%s-%u", stage, ++n);
}

static int load(struct nft *nft, char *ret_table, size_t size, struct err *err)
{
	const struct filter_spec *spec = nft->site->spec;
	const struct nft_hook *hook = hook_of(spec);

	nft->family = on_devices(spec) ? NFPROTO_NETDEV : NFPROTO_INET;
	name_table(nft);
	snprintf(ret_table, size, "%s", nft->table);
	nl_begin_transaction(&nft->batch, &nft->nl, NFNL_SUBSYS_NFTABLES, "load the rules of",
			     filter_of(spec)->kind.name);
	nft_table(nft);
	nft_counter(nft);
	nft_chain(nft, hook->chain, hook);
	if (spec->rules && spec->structure == FILTER_LINEAR)
		nft_linear(nft, hook->chain);
	else if (spec->rules)
		nft_sets(nft, hook->chain);
	nft_conntrack(nft);
	return nft_commit(nft, err);
}

/* Leaves *nl open for reading, unless it fails. */
static int load_site(const struct filter_site *site, const char *node, struct nl *nl,
		     char *ret_table, size_t size, struct err *err)
{
	struct nft nft = {.site = site};
	int r = nl_open_bus(&nft.nl, NETLINK_NETFILTER, node, err);

	if (r)
		return r;
	r = nl_batch_init(&nft.batch, err);
	if (!r)
		r = load(&nft, ret_table, size, err);
	nl_batch_release(&nft.batch);
	if (r)
		nl_close(&nft.nl);
	else
		*nl = nft.nl;
	return r;
}

static int attach(const struct filter_site *site, void **ret_state, struct err *err)
{
	const struct filter_spec *spec = site->spec;
	struct state *state;
	int r = check_site(site, err);

	if (r)
		return r;
	state = calloc(1, sizeof(*state));
	if (!state)
		return err_sys(err, ENOMEM, "cannot load rules");
	snprintf(state->node, sizeof(state->node), "%s", site->node);
	state->family = on_devices(spec) ? NFPROTO_NETDEV : NFPROTO_INET;
	state->ends = spec->action == FILTER_DROP || spec->action == FILTER_REJECT;
	r = load_site(site, state->node, &state->nl, state->table, sizeof(state->table), err);
	if (r)
		free(state);
	else
		*ret_state = state;
	return r;
}

/* The table stays with the namespace. */
static void detach(void *data)
{
	struct state *state = data;

	nl_close(&state->nl);
	free(state);
}

static int take_counter(const struct nlmsghdr *nlh, void *data)
{
	struct nftnl_obj *obj = nftnl_obj_alloc();

	if (obj && nftnl_obj_nlmsg_parse(nlh, obj) >= 0)
		*(uint64_t *)data = nftnl_obj_get_u64(obj, NFTNL_OBJ_CTR_PKTS);
	if (obj)
		nftnl_obj_free(obj);
	return MNL_CB_OK;
}

static int read_counter(void *data, struct filter_counters *ret, struct err *err)
{
	struct state *state = data;
	uint64_t packets = UINT64_MAX;
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg;
	int r;

	nlh->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETOBJ;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = (uint8_t)state->family;
	nfg->version = NFNETLINK_V0;
	mnl_attr_put_strz(nlh, NFTA_OBJ_TABLE, state->table);
	mnl_attr_put_strz(nlh, NFTA_OBJ_NAME, NFT_COUNTER);
	mnl_attr_put_u32(nlh, NFTA_OBJ_TYPE, htonl(NFT_OBJECT_COUNTER));
	r = nl_query(&state->nl, nlh, take_counter, NULL, &packets, "read the counter of",
		     state->table, err);
	if (r)
		return r;
	if (packets == UINT64_MAX)
		return err_sys(err, ENOMEM, "cannot read the counter of '%s'", state->table);
	*ret = (struct filter_counters){
		.matched = packets, .dropped = state->ends ? packets : 0, .exact = true};
	return 0;
}

/* In a namespace to be thrown away: the very rules, but few, and on the loopback device. */
static int try_rules(const void *arg, struct err *err)
{
	struct filter_spec spec = *(const struct filter_spec *)arg;
	const struct filter_device lo = {.ifname = "lo", .ifindex = 1};
	const struct filter_site site = {.spec = &spec,
					 .node = "trial",
					 .devices = &lo,
					 .n_devices = 1,
					 .dnat = "198.18.0.1",
					 .dnat6 = "2001:2::1",
					 .out = "lo"};
	char table[32];
	struct nl nl;
	int r = feature_enter(err);

	if (r)
		return -EPERM;
	r = feature_nft(err);
	if (r)
		return r;
	if (spec.rules > 1)
		spec.rules = 2;
	return load_site(&site, site.node, &nl, table, sizeof(table), err);
}

/* How the kernel says that it lacks an expression, a hook, a family, or a subsystem. */
static bool lacks(int r)
{
	return r == -ENOENT || r == -EOPNOTSUPP || r == -EPROTONOSUPPORT || r == -EAFNOSUPPORT;
}

/* What decides about success. Plans check many cases, most of which differ in something else. */
struct tried {
	int stage, action, match, structure, conntrack, flowtable;
};

static bool was_tried(const struct tried *done, size_t n, const struct tried *this)
{
	while (n-- > 0)
		if (!memcmp(&done[n], this, sizeof(*this)))
			return true;
	return false;
}

static int check(const void *cfg, struct err *err)
{
	static struct tried done[64];
	static size_t n;
	const struct filter_spec *spec = cfg;
	const struct tried this = {spec->stage,	    spec->action,    spec->match,
				   spec->structure, spec->conntrack, spec->flowtable};
	struct err why = {""};
	int r = check_options(spec, err);

	if (r || was_tried(done, n, &this))
		return r;
	r = aside_run(try_rules, spec, trial_ns, &why);
	/* Without the privilege to try, building the lab will say so. */
	if (r == -EPERM)
		return 0;
	if (lacks(r))
		return err_set(err, EOPNOTSUPP, "the kernel cannot do this: %s", why.text);
	if (r && err)
		*err = why;
	if (!r && n < sizeof(done) / sizeof(done[0]))
		done[n++] = this;
	return r;
}

#define STAGE(id, stage, text)                                   \
	const struct filter filter_##id = {                      \
		.kind = {.name = stage,                          \
			 .help = text,                           \
			 .opts = filter_opts,                    \
			 .cfg_size = sizeof(struct filter_spec), \
			 .check = check},                        \
		.lasting = true,                                 \
		.attach = attach,                                \
		.read = read_counter,                            \
		.detach = detach,                                \
	}

STAGE(nft_ingress, "nft-ingress",
      "nftables, netdev ingress of the devices: before routing and conntrack");
STAGE(nft_raw, "nft-raw", "nftables, prerouting at raw priority: before conntrack");
STAGE(nft_forward, "nft-forward", "nftables, forward: what the router passes on");
STAGE(nft_input, "nft-input", "nftables, input: what is for the node itself");
STAGE(nft_output, "nft-output", "nftables, output: what the node itself sends");
