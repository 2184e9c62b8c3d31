/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the life of a lab: builds its nodes and links step by step, enters them, frees them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "topo/addr.h"
#include "topo/link.h"
#include "topo/neigh.h"
#include "topo/node.h"
#include "topo/plan.h"
#include "topo/route.h"
#include "topo/sysctl.h"

int netns_open_current(struct err *err)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, errno, "cannot open '/proc/thread-self/ns/net'") : fd;
}

int netns_enter(int netns, const char *what, struct err *err)
{
	if (setns(netns, CLONE_NEWNET))
		return err_sys(err, errno, "cannot enter %s", what);
	return 0;
}

/*
 * A lab takes two descriptors a node. Whoever measures may want a socket or two in each, so there
 * should be twice as many, if the hard limit or our privileges allow.
 */
static int raise_limit(size_t n_nodes, struct err *err)
{
	rlim_t need = 2 * n_nodes + 64, want = 4 * n_nodes + 256;
	struct rlimit limit, more;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return err_sys(err, errno, "cannot read the limit of open files");
	if (limit.rlim_cur >= want)
		return 0;
	more = (struct rlimit){want, limit.rlim_max > want ? limit.rlim_max : want};
	if (!setrlimit(RLIMIT_NOFILE, &more))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	if (limit.rlim_max >= need && !setrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return err_set(err, EMFILE,
		       "a lab of %zu nodes needs %ju open files, more than the hard limit of %ju "
		       "(ulimit -Hn)",
		       n_nodes, (uintmax_t)need, (uintmax_t)limit.rlim_max);
}

/* Leaves the thread inside the new node. */
static int make_node(struct lab *lab, size_t i, struct sysctl_source *source, struct err *err)
{
	const char *name = lab->spec.nodes[i].name;
	struct node *node = &lab->nodes[i];
	int rc;

	if (unshare(CLONE_NEWNET))
		return err_sys(err, errno, "cannot make a network namespace for node '%s'", name);
	node->netns = netns_open_current(err);
	if (node->netns < 0)
		return node->netns;
	rc = nl_open(&node->nl, name, err);
	return rc ? rc : sysctl_quiet(source, name, lab->inet6, err);
}

static int make_nodes(struct lab *lab, struct err *err)
{
	struct sysctl_source source = SYSCTL_SOURCE_INIT;
	struct err lost;
	size_t i;
	int rc = 0;

	lab->inet6 = sysctl_has_inet6();
	for (i = 0; i < lab->spec.n_nodes && !rc; i++)
		rc = make_node(lab, i, &source, err);
	sysctl_source_release(&source);
	if (netns_enter(lab->home, "the namespace of the caller again", &lost) && !rc) {
		rc = -EPERM;
		if (err)
			*err = lost;
	}
	return rc;
}

static int make_links(struct lab *lab, struct nl_batch *batch, struct err *err)
{
	size_t l;

	/* Any node's socket will do, as all indexes differ: one socket, few system calls. */
	nl_begin(batch, &lab->nodes[0].nl);
	for (l = 0; l < lab->spec.n_links; l++) {
		const struct wire *wire = &lab->plan->wires[l];
		int netns[2] = {lab->nodes[wire->end[0].node].netns,
				lab->nodes[wire->end[1].node].netns};

		link_put_veth(batch, wire, &lab->spec.links[l], netns);
	}
	return nl_commit(batch, err);
}

static int set_end_offloads(struct lab *lab, size_t l, unsigned int side, struct err *err)
{
	const struct end *end = &lab->plan->wires[l].end[side];
	int fd = nl_fd(&lab->nodes[end->node].nl), rc = 0;

	if (!lab->offloads.blocks)
		rc = offload_map_read(fd, end->ifname, &lab->offloads, err);
	if (!rc)
		rc = offload_set(fd, end->ifname, &lab->offloads, lab->spec.links[l].offloads, err);
	if (rc)
		err_prefix(err, "node '%s'", lab->spec.nodes[end->node].name);
	return rc;
}

static int set_offloads(struct lab *lab, struct err *err)
{
	size_t l;
	int rc = 0;

	for (l = 0; l < lab->spec.n_links && !rc; l++) {
		rc = set_end_offloads(lab, l, 0, err);
		if (!rc)
			rc = set_end_offloads(lab, l, 1, err);
	}
	return rc;
}

int lab_keep_offloads_off(struct lab *lab, size_t link, struct err *err)
{
	struct offload_state states[OFFLOADS];
	unsigned int side;
	size_t i;
	int rc = 0;

	if (lab->spec.links[link].offloads)
		return 0;
	for (side = 0; side < 2 && !rc; side++) {
		const struct end *end = &lab->plan->wires[link].end[side];

		rc = set_end_offloads(lab, link, side, err);
		if (!rc)
			rc = lab_offloads(lab, link, side, states, err);
		for (i = 0; i < OFFLOADS && !rc; i++)
			if (states[i].on)
				rc = err_set(err, EIO, "cannot keep '%s' off at %s:%s",
					     states[i].name, lab->spec.nodes[end->node].name,
					     end->ifname);
	}
	return rc;
}

static int make_routers(struct lab *lab, struct err *err)
{
	struct sysctl_source source = SYSCTL_SOURCE_INIT;
	struct err lost;
	size_t i;
	int rc = 0;

	for (i = 0; i < lab->spec.n_nodes && !rc; i++) {
		if (!lab->spec.nodes[i].forward)
			continue;
		rc = lab_enter(lab, i, err);
		if (!rc)
			rc = sysctl_forward(&source, lab->spec.nodes[i].name, lab->inet6, err);
	}
	sysctl_source_release(&source);
	if (netns_enter(lab->home, "the namespace of the caller again", &lost) && !rc) {
		rc = -EPERM;
		if (err)
			*err = lost;
	}
	return rc;
}

static int set_up(struct lab *lab, struct nl_batch *batch, struct err *err)
{
	const struct lab_plan *plan = lab->plan;
	size_t i, e;
	int rc = 0;

	for (i = 0; i < lab->spec.n_nodes && !rc; i++) {
		nl_begin(batch, &lab->nodes[i].nl);
		link_put_up(batch, 1, "lo");
		for (e = plan->ends_from[i]; e < plan->ends_from[i + 1]; e++) {
			const struct hop *hop = &plan->ends[e];
			const struct end *end = &plan->wires[hop->link].end[hop->side];

			if (hop->side)
				link_put_up(batch, end->ifindex, end->ifname);
		}
		rc = nl_commit(batch, err);
	}
	return rc;
}

static void put_end(struct nl_batch *batch, const struct lab *lab, const struct hop *hop,
		    int family)
{
	const struct wire *wire = &lab->plan->wires[hop->link];

	if (!plan_link_has(lab->plan, hop->link, family))
		return;
	addr_put(batch, wire, hop->side, family);
	neigh_put(batch, wire, hop->side, family);
}

static int set_addresses(struct lab *lab, struct nl_batch *batch, int family, struct err *err)
{
	const struct lab_plan *plan = lab->plan;
	struct router router;
	size_t i, e, r;
	int rc = router_init(&router, plan, family, err);

	if (rc)
		return rc;
	for (i = 0; i < lab->spec.n_nodes && !rc; i++) {
		nl_begin(batch, &lab->nodes[i].nl);
		for (e = plan->ends_from[i]; e < plan->ends_from[i + 1]; e++)
			put_end(batch, lab, &plan->ends[e], family);
		router_work(&router, i);
		for (r = 0; r < router.n_routes; r++)
			route_put(batch, plan, family, &router.routes[r]);
		rc = nl_commit(batch, err);
	}
	router_release(&router);
	return rc;
}

/* What the kernel does in the background must be over before anybody measures. */
static int settle(struct lab *lab, struct err *err)
{
	unsigned int side;
	size_t l;
	int rc = 0;

	for (l = 0; l < lab->spec.n_links && !rc; l++)
		for (side = 0; side < 2 && !rc; side++) {
			const struct end *end = &lab->plan->wires[l].end[side];
			struct nl *nl = &lab->nodes[end->node].nl;

			rc = link_wait_up(nl, end->ifindex, end->ifname, err);
			if (!rc && lab->inet6 && plan_link_has(lab->plan, l, AF_INET6))
				rc = addr_wait6(nl, end, err);
		}
	return rc;
}

static int build(struct lab *lab, struct err *err)
{
	struct nl_batch batch;
	int rc = nl_batch_init(&batch, err);

	if (rc)
		return rc;
	rc = make_nodes(lab, err);
	if (!rc)
		rc = make_links(lab, &batch, err);
	if (!rc)
		rc = set_offloads(lab, err);
	if (!rc)
		rc = make_routers(lab, err);
	if (!rc)
		rc = set_up(lab, &batch, err);
	/* IPv6 first: its addresses take effect in the background. */
	if (!rc && lab->inet6)
		rc = set_addresses(lab, &batch, AF_INET6, err);
	if (!rc)
		rc = set_addresses(lab, &batch, AF_INET, err);
	if (!rc)
		rc = settle(lab, err);
	nl_batch_release(&batch);
	return rc;
}

int lab_build(const struct lab_spec *spec, struct lab **ret_lab, struct err *err)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	size_t i;
	int rc;

	if (!lab)
		return err_sys(err, ENOMEM, "cannot build lab '%s'", spec->name);
	lab->home = -1;
	rc = lab_spec_copy(&lab->spec, spec);
	if (rc) {
		rc = err_sys(err, -rc, "cannot build lab '%s'", spec->name);
		goto fail;
	}
	rc = lab_plan_make(&lab->spec, &lab->plan, err);
	if (rc)
		goto fail;
	lab->nodes = calloc(lab->spec.n_nodes, sizeof(*lab->nodes));
	if (!lab->nodes) {
		rc = err_sys(err, ENOMEM, "cannot build lab '%s'", spec->name);
		goto fail;
	}
	for (i = 0; i < lab->spec.n_nodes; i++)
		lab->nodes[i].netns = -1;
	rc = raise_limit(lab->spec.n_nodes, err);
	if (rc)
		goto fail;
	lab->home = netns_open_current(err);
	rc = lab->home < 0 ? lab->home : build(lab, err);
	if (rc)
		goto fail;
	*ret_lab = lab;
	return 0;
fail:
	lab_free(lab);
	return rc;
}

void lab_free(struct lab *lab)
{
	size_t i;

	if (!lab)
		return;
	lab_unfilter(lab);
	for (i = 0; lab->nodes && i < lab->spec.n_nodes; i++) {
		nl_close(&lab->nodes[i].nl);
		if (lab->nodes[i].netns >= 0)
			close(lab->nodes[i].netns);
	}
	if (lab->home >= 0)
		close(lab->home);
	free(lab->nodes);
	lab_plan_free(lab->plan);
	lab_spec_release(&lab->spec);
	free(lab);
}

const struct lab_spec *lab_spec(const struct lab *lab)
{
	return &lab->spec;
}

const struct lab_plan *lab_plan(const struct lab *lab)
{
	return lab->plan;
}

int lab_netns(const struct lab *lab, size_t node)
{
	return lab->nodes[node].netns;
}

int lab_enter(struct lab *lab, size_t node, struct err *err)
{
	char what[NODE_NAME_MAX + 8];

	snprintf(what, sizeof(what), "node '%s'", lab->spec.nodes[node].name);
	return netns_enter(lab->nodes[node].netns, what, err);
}

int lab_leave(struct lab *lab, struct err *err)
{
	return netns_enter(lab->home, "the namespace of the caller again", err);
}

/* The thread goes back to where it was, which for a worker is its own node, not the lab's home. */
int lab_socket(struct lab *lab, size_t node, int domain, int type, int protocol, struct err *err)
{
	int back = netns_open_current(err), fd, rc;

	if (back < 0)
		return back;
	rc = lab_enter(lab, node, err);
	if (rc)
		goto out;
	fd = socket(domain, type | SOCK_CLOEXEC, protocol);
	rc = fd;
	if (fd < 0)
		rc = err_sys(err, errno, "cannot open a socket in node '%s'",
			     lab->spec.nodes[node].name);
	if (setns(back, CLONE_NEWNET)) {
		rc = err_sys(err, errno, "cannot leave node '%s'", lab->spec.nodes[node].name);
		if (fd >= 0)
			close(fd);
	}
out:
	close(back);
	return rc;
}
