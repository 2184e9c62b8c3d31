/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the stages tcx and tc-bpf: a program at the tc ingress of each device. */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <stdlib.h>
#include <unistd.h>

#include "topo/aside.h"
#include "topo/feature.h"
#include "topo/filter/filter.h"
#include "topo/filter/program.h"
#include "topo/tc.h"

/* Linux 6.6; headers may be older. */
enum { TCX_INGRESS = 46 };

#define PROBE_NS UINT64_C(10000000000)

struct tc {
	struct program program;
	int *links; /* of tcx; a tc-bpf filter belongs to its device */
	size_t n_links;
};

static int start(const struct filter_site *site, void **ret_state, struct err *err)
{
	struct tc *tc = calloc(1, sizeof(*tc));

	if (!tc)
		return err_sys(err, ENOMEM, "cannot attach a tc program");
	*ret_state = tc;
	tc->links = calloc(site->n_devices + 1, sizeof(*tc->links));
	if (!tc->links)
		return err_sys(err, ENOMEM, "cannot attach a tc program");
	return program_load(&tc->program, site->spec, DROP_ON_TC, filter_of(site->spec)->kind.name,
			    err);
}

static int attach_tcx(const struct filter_site *site, void **ret_state, struct err *err)
{
	int r = start(site, ret_state, err);

	for (size_t i = 0; !r && i < site->n_devices; i++) {
		const struct filter_device *device = &site->devices[i];
		struct tc *tc = *ret_state;
		int fd = bpf_link_create(program_fd(&tc->program), device->ifindex,
					 (enum bpf_attach_type)TCX_INGRESS, NULL);

		if (fd < 0)
			return err_sys(err, fd, "cannot attach a tcx program to '%s'",
				       device->ifname);
		tc->links[tc->n_links++] = fd;
	}
	return r;
}

static void put_program(struct nl_batch *batch, const struct filter_device *device, int fd)
{
	const struct tc_filter filter =
		tc_put_filter(batch, device->ifindex, device->ifname, "bpf", ETH_P_ALL, 0);

	mnl_attr_put_u32(filter.nlh, TCA_BPF_FD, (uint32_t)fd);
	mnl_attr_put_strz(filter.nlh, TCA_BPF_NAME, "netbench");
	mnl_attr_put_u32(filter.nlh, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
	tc_end_filter(&filter);
}

static int add_programs(const struct filter_site *site, struct nl *nl, int fd, struct err *err)
{
	struct nl_batch batch;
	int r = nl_batch_init(&batch, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < site->n_devices; i++)
		r = tc_clsact(nl, site->devices[i].ifindex, site->devices[i].ifname, err);
	nl_begin(&batch, nl);
	for (size_t i = 0; !r && i < site->n_devices; i++)
		put_program(&batch, &site->devices[i], fd);
	if (!r)
		r = nl_commit(&batch, err);
	nl_batch_release(&batch);
	return r;
}

static int attach_tc_bpf(const struct filter_site *site, void **ret_state, struct err *err)
{
	int r = start(site, ret_state, err);
	struct nl nl;

	if (!r)
		r = nl_open(&nl, site->node, err);
	if (r)
		return r;
	r = add_programs(site, &nl, program_fd(&((struct tc *)*ret_state)->program), err);
	nl_close(&nl);
	return r;
}

static int read_counters(void *state, struct filter_counters *ret, struct err *err)
{
	const struct tc *tc = state;

	(void)err;
	program_read(&tc->program, ret);
	return 0;
}

static void detach(void *state)
{
	struct tc *tc = state;

	for (size_t i = 0; i < tc->n_links; i++)
		close(tc->links[i]);
	free(tc->links);
	program_release(&tc->program);
	free(tc);
}

/* A program that leaves every packet to the next one: its descriptor or -errno. */
static int load_nothing(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = TC_ACT_UNSPEC},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, NULL, "GPL", insns, 2, NULL);
}

/* Attached to the loopback device of a namespace to be thrown away. */
static int probe_tc_bpf(const void *arg, struct err *err)
{
	const struct filter_device lo = {.ifname = "lo", .ifindex = 1};
	const struct filter_site site = {.node = "trial", .devices = &lo, .n_devices = 1};
	struct nl nl;
	int program, r;

	(void)arg;
	program = load_nothing();
	/* Without privilege there is no telling. */
	if (program < 0 || feature_enter(NULL))
		return 0;
	r = nl_open(&nl, site.node, err);
	if (!r)
		r = tc_missing(tc_clsact(&nl, lo.ifindex, lo.ifname, err), "clsact qdisc",
			       "NET_SCH_INGRESS", err);
	if (!r)
		r = tc_missing(add_programs(&site, &nl, program, err), "cls_bpf", "NET_CLS_BPF",
			       err);
	return r;
}

static int check_tc_bpf(const void *cfg, struct err *err)
{
	const struct filter_spec *spec = cfg;
	int r = program_check(spec, DROP_ON_TC, filter_of(spec)->kind.name, err);

	if (r)
		return r;
	r = aside_run(probe_tc_bpf, NULL, PROBE_NS, err);
	return !r || r == -EPERM ? 0 : -EOPNOTSUPP;
}

/* Asked with a device that is not there, a kernel with tcx misses the device; others the hook. */
static int check_tcx(const void *cfg, struct err *err)
{
	const struct filter_spec *spec = cfg;
	int r = program_check(spec, DROP_ON_TC, filter_of(spec)->kind.name, err), program, link;

	if (r)
		return r;
	program = load_nothing();
	/* Without privilege there is no telling. */
	if (program < 0)
		return 0;
	link = bpf_link_create(program, INT_MAX, (enum bpf_attach_type)TCX_INGRESS, NULL);
	if (link == -EINVAL)
		r = err_set(err, EOPNOTSUPP, "the kernel has no tcx (needs Linux 6.6)");
	if (link >= 0)
		close(link);
	close(program);
	return r;
}

const struct filter filter_tcx = {
	.kind = {.name = "tcx",
		 .help = "BPF program at the tc ingress, by a BPF link (Linux 6.6)",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check_tcx},
	.attach = attach_tcx,
	.read = read_counters,
	.detach = detach,
};

const struct filter filter_tc_bpf = {
	.kind = {.name = "tc-bpf",
		 .help = "BPF program at the tc ingress, as a classifier of the clsact qdisc",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check_tc_bpf},
	.lasting = true,
	.attach = attach_tc_bpf,
	.read = read_counters,
	.detach = detach,
};
