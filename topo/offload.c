/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns offloads: sets and reads back device features, with the one-by-one ioctls as fallback. */
#include "topo/offload.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "topo/node.h"
#include "topo/plan.h"

/*
 * The kernel's names of what each offload stands for. "gso" takes in the segmentation of tunnels,
 * SCTP and fragment lists: with these left on, a large packet could still reach a device.
 */
static const char *const feature_names[OFFLOADS][16] = {
	{"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-checksum-fcoe-crc",
	 "tx-checksum-sctp"},
	{"rx-checksum"},
	{"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-accecn-segmentation",
	 "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation"},
	{"tx-generic-segmentation", "tx-gre-segmentation", "tx-gre-csum-segmentation",
	 "tx-ipxip4-segmentation", "tx-ipxip6-segmentation", "tx-udp_tnl-segmentation",
	 "tx-udp_tnl-csum-segmentation", "tx-sctp-segmentation", "tx-esp-segmentation",
	 "tx-gso-list", "tx-gso-partial", "tx-gso-robust", "tx-tunnel-remcsum-segmentation",
	 "tx-fcoe-segmentation"},
	{"rx-gro", "rx-gro-hw", "rx-lro"},
	{"tx-udp-segmentation"},
	{"rx-gro-list", "rx-udp-gro-forwarding"},
};

/* How kernels without feature strings (before 2.6.39, or a driver of that age) know them. */
static const struct {
	uint32_t get, set;
} legacy[OFFLOADS] = {
	{ETHTOOL_GTXCSUM, ETHTOOL_STXCSUM}, {ETHTOOL_GRXCSUM, ETHTOOL_SRXCSUM},
	{ETHTOOL_GTSO, ETHTOOL_STSO},	    {ETHTOOL_GGSO, ETHTOOL_SGSO},
	{ETHTOOL_GGRO, ETHTOOL_SGRO},
};

static int ethtool(int fd, const char *ifname, void *cmd)
{
	struct ifreq ifr = {0};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	ifr.ifr_data = cmd;
	return ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

static int map_strings(int fd, const char *ifname, uint32_t n, struct offload_map *map)
{
	struct ethtool_gstrings *strings;
	unsigned int o, k, i;
	int rc;

	if (n > FEATURE_BLOCKS * 32)
		n = FEATURE_BLOCKS * 32;
	strings = calloc(1, sizeof(*strings) + FEATURE_BLOCKS * 32 * ETH_GSTRING_LEN * 2);
	if (!strings)
		return -ENOMEM;
	*strings = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = n};
	rc = ethtool(fd, ifname, strings);
	for (i = 0; !rc && i < n; i++) {
		const char *name = (const char *)strings->data + (size_t)i * ETH_GSTRING_LEN;

		for (o = 0; o < OFFLOADS; o++)
			for (k = 0; k < 16 && feature_names[o][k]; k++)
				if (!strncmp(name, feature_names[o][k], ETH_GSTRING_LEN))
					map->bits[o][i / 32] |= UINT32_C(1) << i % 32;
	}
	if (!rc)
		map->blocks = (n + 31) / 32;
	free(strings);
	return rc;
}

int offload_map_read(int fd, const char *ifname, struct offload_map *ret, struct err *err)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t n;
	} sset = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
	struct offload_map map = {0};
	int rc = ethtool(fd, ifname, &sset);

	if (!rc && sset.info.sset_mask)
		rc = map_strings(fd, ifname, sset.n, &map);
	if (rc && rc != -EOPNOTSUPP)
		return err_sys(err, -rc, "cannot read the feature names of link '%s'", ifname);
	*ret = map;
	return 0;
}

static int set_legacy(int fd, const char *ifname, uint64_t set)
{
	struct ethtool_value value;
	unsigned int o;
	int rc;

	for (o = 0; o < OFFLOADS; o++) {
		if (!legacy[o].set)
			continue;
		value = (struct ethtool_value){.cmd = legacy[o].set, .data = set >> o & 1};
		rc = ethtool(fd, ifname, &value);
		if (rc && rc != -EOPNOTSUPP)
			return rc;
	}
	return 0;
}

static int set_features(int fd, const char *ifname, const struct offload_map *map, uint64_t set)
{
	struct {
		struct ethtool_sfeatures head;
		struct ethtool_set_features_block block[FEATURE_BLOCKS];
	} cmd = {.head = {.cmd = ETHTOOL_SFEATURES, .size = map->blocks}};
	unsigned int o, b;
	int rc;

	for (o = 0; o < OFFLOADS; o++)
		for (b = 0; b < map->blocks; b++) {
			cmd.block[b].valid |= map->bits[o][b];
			if (set >> o & 1)
				cmd.block[b].requested |= map->bits[o][b];
		}
	/* Success says little: features the device lacks are skipped. offload_get has the truth. */
	rc = ethtool(fd, ifname, &cmd);
	return rc;
}

int offload_set(int fd, const char *ifname, const struct offload_map *map, uint64_t set,
		struct err *err)
{
	int rc = map->blocks ? set_features(fd, ifname, map, set) : set_legacy(fd, ifname, set);

	if (rc)
		return err_sys(err, -rc, "cannot set the offloads of link '%s'", ifname);
	return 0;
}

static int get_legacy(int fd, const char *ifname, struct offload_state *ret)
{
	struct ethtool_value value;
	unsigned int o;
	int rc;

	for (o = 0; o < OFFLOADS; o++) {
		if (!legacy[o].get)
			continue;
		value = (struct ethtool_value){.cmd = legacy[o].get};
		rc = ethtool(fd, ifname, &value);
		if (rc && rc != -EOPNOTSUPP)
			return rc;
		ret[o].known = !rc;
		ret[o].on = !rc && value.data;
	}
	return 0;
}

static int get_features(int fd, const char *ifname, const struct offload_map *map,
			struct offload_state *ret)
{
	struct {
		struct ethtool_gfeatures head;
		struct ethtool_get_features_block block[FEATURE_BLOCKS];
	} cmd = {.head = {.cmd = ETHTOOL_GFEATURES, .size = map->blocks}};
	unsigned int o, b;
	int rc = ethtool(fd, ifname, &cmd);

	for (o = 0; o < OFFLOADS; o++)
		for (b = 0; !rc && b < map->blocks; b++) {
			uint32_t there = (cmd.block[b].available | cmd.block[b].active) &
					 ~cmd.block[b].never_changed & map->bits[o][b];

			ret[o].known |= there != 0;
			ret[o].on |= (cmd.block[b].active & map->bits[o][b]) != 0;
		}
	return rc;
}

int offload_get(int fd, const char *ifname, const struct offload_map *map, uint64_t wanted,
		struct offload_state ret[OFFLOADS], struct err *err)
{
	struct offload_state state[OFFLOADS] = {0};
	unsigned int o;
	int rc;

	for (o = 0; o < OFFLOADS; o++) {
		state[o].name = offload_names[o];
		state[o].wanted = wanted >> o & 1;
	}
	rc = map->blocks ? get_features(fd, ifname, map, state) : get_legacy(fd, ifname, state);
	if (rc)
		return err_sys(err, -rc, "cannot read the offloads of link '%s'", ifname);
	memcpy(ret, state, sizeof(state));
	return 0;
}

int lab_offloads(struct lab *lab, size_t link, unsigned int side,
		 struct offload_state ret[OFFLOADS], struct err *err)
{
	const struct end *end = &lab->plan->wires[link].end[side];
	int rc = offload_get(nl_fd(&lab->nodes[end->node].nl), end->ifname, &lab->offloads,
			     lab->spec.links[link].offloads, ret, err);

	if (rc)
		err_prefix(err, "node '%s'", lab->spec.nodes[end->node].name);
	return rc;
}
