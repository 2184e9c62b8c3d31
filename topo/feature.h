/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel can do for a lab, found out by doing it. All of these are for a process in a
 * network namespace of its own, to be thrown away: what was tried may stay in it. Each returns 0,
 * or -errno with the reason.
 */
#ifndef TOPO_FEATURE_H
#define TOPO_FEATURE_H

#include "base/err.h"

/* Leave for a new network namespace; without privilege, inside a new user namespace. */
int feature_enter(struct err *err);
/* Make a link of this kind: "wireguard", "bridge", "vlan", … */
int feature_link(const char *kind, struct err *err);
/* Make a tun device. */
int feature_tun(struct err *err);
/* Ask nf_tables for its generation. */
int feature_nft(struct err *err);
/* Run one with frames that could leave through a device: the engine of the frame generators. */
int feature_live_frames(struct err *err);

#endif
