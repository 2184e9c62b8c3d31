/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labs with a name, which outlive the process that built them: what `lab up` and `lab down` need.
 *
 * Each node's namespace is bind-mounted at /run/netns/LAB.NODE, where `ip netns exec` finds it.
 * /run/netbench/LAB records the lab before the first mount is made, so whatever interrupts `up`,
 * `down` knows what to remove and touches nothing else.
 */
#ifndef TOPO_PIN_H
#define TOPO_PIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "topo/lab.h"

/*
 * Pin a built lab under a name (same rules as a node name). -EEXIST if a lab of that name is up or
 * one of its files in /run/netns exists: nothing is touched then. On any other failure all that was
 * done is undone. The caller still owns lab and may free it: the pinned namespaces stay.
 */
int lab_pin(const struct lab *lab, const char *name, struct err *err);

/* -EEXIST if lab_pin would refuse this name: a quick look before anything is built. */
int lab_pin_check(const char *name, struct err *err);

/*
 * Remove exactly what lab_pin made. Idempotent: returns 0 too when no such lab is up, with
 * *ret_removed false (ret_removed may be NULL). Namespaces with processes in them live on unnamed
 * until these end.
 */
int lab_unpin(const char *name, bool *ret_removed, struct err *err);

struct pinned_lab {
	char name[NODE_NAME_MAX];
	struct lab_spec spec; /* as it was built; lab_plan_make gives addresses and ifnames again */
	bool whole;	      /* every node is still mounted */
};

/* All pinned labs, sorted by name. *ret_labs is to be freed with lab_pinned_free. */
int lab_pinned_list(struct pinned_lab **ret_labs, size_t *ret_n, struct err *err);
void lab_pinned_free(struct pinned_lab *labs, size_t n);

/* Move the calling thread into a node of a pinned lab. -ENOENT with a "did you mean". */
int lab_pinned_enter(const char *name, const char *node, struct err *err);

#endif
