/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns neighbour entries. */
#include "topo/neigh.h"

#include <linux/neighbour.h>

void neigh_put(struct nl_batch *batch, const struct wire *wire, unsigned int side, int family)
{
	const struct end *end = &wire->end[side], *far = &wire->end[!side];
	struct nlmsghdr *nlh = nl_put(batch, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE,
				      "set the neighbour of", end->ifname);
	struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));

	ndm->ndm_family = (unsigned char)family;
	ndm->ndm_ifindex = end->ifindex;
	ndm->ndm_state = NUD_PERMANENT;
	if (family == AF_INET)
		mnl_attr_put(nlh, NDA_DST, 4, &far->addr);
	else
		mnl_attr_put(nlh, NDA_DST, 16, &far->addr6);
	mnl_attr_put(nlh, NDA_LLADDR, sizeof(far->mac), far->mac);
}
