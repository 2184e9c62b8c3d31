/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the filter programs (drop.bpf.c) and the stages that load them share. Addresses and ports
 * are in network order unless a comment says otherwise.
 */
#ifndef BPF_DROP_H
#define BPF_DROP_H

#include <linux/types.h>

/* Counters are an array of this length, so that a program needs no lookup for its own. */
enum { DROP_CPUS = 1024 };

/* Protocols as bits, so that one rule may allow several. OTHER has ports too and is never parsed. */
enum { DROP_UDP = 1, DROP_TCP = 2, DROP_OTHER = 4 };

enum drop_match { DROP_PORT, DROP_PREFIX, DROP_TUPLE };

enum drop_structure {
	DROP_NONE,   /* no rules */
	DROP_SINGLE, /* the only rule is in struct drop_config */
	DROP_LINEAR, /* rules4, rules6: from the first to the one that hits */
	DROP_HASH,   /* hash4, hash6: an element is a rule with its masks applied */
	DROP_LPM,    /* lpm4, lpm6: source prefixes */
};

struct drop_ports {
	__be16 dport;
	__u16 sport_min, sport_span; /* host order; the last port is sport_min + sport_span */
	__u16 protos;		     /* of DROP_UDP … */
};

struct drop_rule4 {
	__be32 src, src_mask, dst, dst_mask;
	struct drop_ports ports;
};

struct drop_rule6 {
	__be32 src[4], src_mask[4], dst[4], dst_mask[4];
	struct drop_ports ports;
};

/* Keys of the hashes. For DROP_PORT only the first member: the addresses are left out. */
struct drop_key {
	__be16 dport;
	__u16 proto; /* one of DROP_UDP … */
};

struct drop_key4 {
	struct drop_key key;
	__be32 src, dst;
};

struct drop_key6 {
	struct drop_key key;
	__be32 src[4], dst[4];
};

struct drop_lpm4 {
	__u32 len; /* bits of src that count */
	__be32 src;
};

struct drop_lpm6 {
	__u32 len;
	__be32 src[4];
};

/* Constant once loaded: the verifier removes what a filter does not need. */
struct drop_config {
	__u32 structure, match;
	__u32 rules;   /* elements of rules4 and of rules6 */
	__u32 go_on;   /* DROP_LINEAR: a hit does not end the walk */
	__s32 verdict; /* what the program returns for a frame that hits */
	/* The rule of DROP_SINGLE; the masks of DROP_HASH. */
	struct drop_rule4 rule4;
	struct drop_rule6 rule6;
};

/* One per CPU, alone in its cache line. */
struct drop_count {
	__u64 matched;
} __attribute__((aligned(64)));

#endif
