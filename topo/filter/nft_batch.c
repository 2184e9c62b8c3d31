/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the messages of a table in the making: tables, chains, counters, flowtables. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdlib.h>

#include <libnftnl/chain.h>
#include <libnftnl/flowtable.h>
#include <libnftnl/object.h>
#include <libnftnl/table.h>

#include "topo/filter/nft.h"

struct nlmsghdr *nft_put(struct nft *nft, uint16_t message, uint16_t flags, const char *verb,
			 const char *subject)
{
	struct nlmsghdr *nlh = nl_put(&nft->batch, NFNL_SUBSYS_NFTABLES << 8 | message,
				      NLM_F_CREATE | flags, verb, subject);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nfg->nfgen_family = (uint8_t)nft->family;
	nfg->version = NFNETLINK_V0;
	return nlh;
}

void nft_table(struct nft *nft)
{
	struct nlmsghdr *nlh = nft_put(nft, NFT_MSG_NEWTABLE, NLM_F_EXCL, "make the table of",
				       filter_of(nft->site->spec)->kind.name);

	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, nft->table);
}

/* The names of the devices, NULL-terminated; to be freed. */
static const char **device_names(const struct filter_site *site)
{
	const char **names = calloc(site->n_devices + 1, sizeof(*names));

	for (size_t i = 0; names && i < site->n_devices; i++)
		names[i] = site->devices[i].ifname;
	return names;
}

static bool set_hook(struct nft *nft, struct nftnl_chain *chain, const struct nft_hook *hook)
{
	const char **names;

	nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, hook->type);
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, hook->number);
	nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, hook->priority);
	nftnl_chain_set_u32(chain, NFTNL_CHAIN_POLICY, NF_ACCEPT);
	if (nft->family != NFPROTO_NETDEV)
		return true;
	names = device_names(nft->site);
	if (!names)
		return false;
	nftnl_chain_set_array(chain, NFTNL_CHAIN_DEVICES, names);
	free(names);
	return true;
}

void nft_chain(struct nft *nft, const char *name, const struct nft_hook *hook)
{
	struct nlmsghdr *nlh = nft_put(nft, NFT_MSG_NEWCHAIN, NLM_F_EXCL, "make the chain", name);
	struct nftnl_chain *chain = nftnl_chain_alloc();

	if (!chain || (hook && !set_hook(nft, chain, hook))) {
		nft->no_memory = true;
	} else {
		nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, nft->table);
		nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, name);
		nftnl_chain_nlmsg_build_payload(nlh, chain);
	}
	if (chain)
		nftnl_chain_free(chain);
}

void nft_counter(struct nft *nft)
{
	struct nlmsghdr *nlh =
		nft_put(nft, NFT_MSG_NEWOBJ, NLM_F_EXCL, "make the counter", NFT_COUNTER);
	struct nlattr *data;

	mnl_attr_put_strz(nlh, NFTA_OBJ_TABLE, nft->table);
	mnl_attr_put_strz(nlh, NFTA_OBJ_NAME, NFT_COUNTER);
	mnl_attr_put_u32(nlh, NFTA_OBJ_TYPE, htonl(NFT_OBJECT_COUNTER));
	data = mnl_attr_nest_start(nlh, NFTA_OBJ_DATA);
	mnl_attr_nest_end(nlh, data);
}

void nft_flowtable(struct nft *nft, const char *name)
{
	struct nlmsghdr *nlh =
		nft_put(nft, NFT_MSG_NEWFLOWTABLE, NLM_F_EXCL, "make the flowtable", name);
	struct nftnl_flowtable *table = nftnl_flowtable_alloc();
	const char **names = device_names(nft->site);

	if (!table || !names) {
		nft->no_memory = true;
	} else {
		nftnl_flowtable_set_str(table, NFTNL_FLOWTABLE_TABLE, nft->table);
		nftnl_flowtable_set_str(table, NFTNL_FLOWTABLE_NAME, name);
		nftnl_flowtable_set_u32(table, NFTNL_FLOWTABLE_HOOKNUM, NF_NETDEV_INGRESS);
		nftnl_flowtable_set_s32(table, NFTNL_FLOWTABLE_PRIO, 0);
		nftnl_flowtable_set_array(table, NFTNL_FLOWTABLE_DEVICES, names);
		nftnl_flowtable_nlmsg_build_payload(nlh, table);
	}
	free(names);
	if (table)
		nftnl_flowtable_free(table);
}

int nft_commit(struct nft *nft, struct err *err)
{
	if (nft->no_memory)
		return err_sys(err, ENOMEM, "cannot prepare the rules");
	return nl_commit(&nft->batch, err);
}
