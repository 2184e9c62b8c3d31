/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A filter: rules at one stage of a node's packet path. A new stage is one file with one struct
 * filter, one line in filters[] and one test.
 *
 * lab_filter() puts the filters of a lab in place once it is up; closing the lab takes them away:
 * every stage hangs on a descriptor or on the namespace, so that nothing survives SIGKILL.
 */
#ifndef TOPO_FILTER_FILTER_H
#define TOPO_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/kind.h"
#include "base/opt.h"

/* Test frames go to this UDP or TCP port (discard, RFC 863). Rules hit it; sockets are bound to it. */
enum { LAB_TEST_PORT = 9 };

enum { FILTER_RULES_MAX = 50000 };

enum filter_action { FILTER_DROP, FILTER_ACCEPT, FILTER_REJECT, FILTER_COUNT };

/* What a rule looks at. The rules that must not be hit differ from the one that is only in value. */
enum filter_match {
	FILTER_PORT,   /* protocol and destination port */
	FILTER_PREFIX, /* source address in a prefix; the hit is 198.18.0.0/15 or 2001:2::/48 */
	FILTER_TUPLE,  /* source, destination, protocol, both ports */
};

enum filter_structure {
	FILTER_LINEAR,	    /* one rule after the other */
	FILTER_SET,	    /* one rule, a hash set */
	FILTER_INTERVALS,   /* one rule, an interval set */
	FILTER_VERDICT_MAP, /* one rule, a verdict map */
	FILTER_BPF_HASH,    /* a BPF hash map */
	FILTER_BPF_LPM,	    /* a BPF longest-prefix-match trie */
};

enum filter_hit { FILTER_FIRST, FILTER_LAST, FILTER_NEVER };

enum filter_conntrack {
	FILTER_CT_NONE,	   /* connection tracking stays out */
	FILTER_CT_NOTRACK, /* it is there, and the frames are exempt from it */
	FILTER_CT_TRACKED,
	FILTER_CT_MASQUERADE, /* source NAT towards the last device of the node */
	FILTER_CT_DNAT,	      /* destination NAT to the last node, on the same port */
};

struct filter_spec {
	char *node; /* NULL: the first node that forwards, else the last node */
	char *on;   /* interface in the node, for stages bound to devices; NULL: all of them */
	int stage;  /* index into filters[] */
	int action; /* enum filter_action, and so on */
	int match, structure, hit, conntrack;
	uint64_t rules; /* 0: the hook is there, but empty */
	bool flowtable;
	char *file;		/* nft-file: the user's ruleset */
	struct texts map;	/* nft-file: "eth1=wan0": call this interface of the node so */
	struct texts define;	/* nft-file: "name=value" */
	char *object, *program; /* the user's own BPF object, and the program in it */
	struct mark mark;
};

/* Every stage has the same options; a stage's check() refuses what it cannot do. */
extern const struct opt filter_opts[];

/* A device of the node that the filter may be bound to. */
struct filter_device {
	const char *ifname;
	int ifindex;
	const uint8_t *mac;
	size_t link; /* index into lab_spec->links */
	unsigned int side;
};

/* Where a filter goes. The thread is inside the node while attach() runs. */
struct filter_site {
	const struct filter_spec *spec;
	const char *node;
	const struct filter_device *devices; /* those that spec->on names, or all of the node */
	size_t n_devices;
	bool forwards; /* the node is a router */
	const char *dnat,
		*dnat6;	 /* addresses of the lab's last node, as text; for FILTER_CT_DNAT */
	const char *out; /* device towards the last node; NULL when the node is the last itself */
};

struct filter_counters {
	uint64_t matched; /* packets that hit */
	uint64_t dropped; /* packets that ended here */
	/*
	 * The stage counts every packet that it drops. false for a user's own rules: what ended there
	 * is then the difference between what came into the node and what left it.
	 */
	bool exact;
};

/*
 * A device with a native XDP program takes redirected frames; one with a generic program does not,
 * and cannot get a native one beside it.
 */
enum xdp_hook { XDP_HOOK_FREE, XDP_HOOK_NATIVE, XDP_HOOK_GENERIC };

struct filter {
	struct kind kind;  /* cfg is struct filter_spec; cfg_size and opts are the same for all */
	enum xdp_hook xdp; /* what it holds of its devices */
	bool lasting;	   /* stays with the namespace when the process ends (for `lab up`) */
	/* Put it in place in the current namespace; state is freed by detach, also after a failure. */
	int (*attach)(const struct filter_site *site, void **ret_state, struct err *err);
	/* Any time between the two, from any namespace; cheap enough for twice a trial. */
	int (*read)(void *state, struct filter_counters *ret, struct err *err);
	void (*detach)(void *state);
	/* The UDP socket that the stage bound to LAB_TEST_PORT, or -1; NULL: none. */
	int (*socket)(const void *state);
};

extern const struct filter filter_xdp, filter_xdp_generic, filter_tcx, filter_tc_bpf, filter_tc_u32,
	filter_tc_flower, filter_socket, filter_app;

extern const struct filter filter_nft_ingress, filter_nft_raw, filter_nft_forward, filter_nft_input,
	filter_nft_output, filter_nft_file;

/* NULL-terminated; filters[0] is "none": no filter, so that a matrix can have a bare arm. */
extern const struct filter *const filters[];
/* Names of filters[], NULL-terminated, for the option `stage`. */
extern const char *const filter_stages[];

static inline const struct filter *filter_of(const struct filter_spec *spec)
{
	return filters[spec->stage];
}

/* Defaults, as a YAML filter without keys has them. */
int filter_spec_init(struct filter_spec *spec, struct err *err);
void filter_spec_release(struct filter_spec *spec);
/* -ENOMEM leaves dst released. */
int filter_spec_copy(struct filter_spec *dst, const struct filter_spec *src);
/*
 * Can it run here? As kind.check: -EOPNOTSUPP with the reason (skip), -EINVAL (exit 2). Covers what
 * concerns every stage, then asks the stage. Does not change the system.
 */
int filter_check(const struct filter_spec *spec, struct err *err);

#endif
