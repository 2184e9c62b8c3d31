/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the stages xdp and xdp-generic: a program on the XDP hook of each device, held by links. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <unistd.h>

#include "topo/filter/filter.h"
#include "topo/filter/program.h"

struct xdp {
	struct program program;
	int *links;
	size_t n_links;
};

static int explain(int code, const char *ifname, bool native, struct err *err)
{
	switch (code) {
	case EBUSY:
		return err_set(err, EBUSY, "another XDP program holds '%s'", ifname);
	case EOPNOTSUPP:
		return native ? err_set(err, EOPNOTSUPP,
					"the driver of '%s' has no native XDP; stage xdp-generic "
					"works on any device",
					ifname)
			      : err_set(err, EOPNOTSUPP, "'%s' takes no XDP program", ifname);
	case ERANGE:
		return err_set(err, EINVAL,
			       "the MTU at the other end of '%s' is too large for native XDP, "
			       "whose frames must fit into a page: up to about 3500 bytes",
			       ifname);
	case ENOSPC:
		return err_set(err, EINVAL,
			       "'%s' has fewer receive queues than the other end sends to, which "
			       "native XDP does not allow",
			       ifname);
	default:
		return err_sys(err, code, "cannot attach an XDP program to '%s'", ifname);
	}
}

static int link_device(struct xdp *xdp, const struct filter_device *device, bool native,
		       struct err *err)
{
	const struct bpf_link_create_opts opts = {
		.sz = sizeof(opts),
		.flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE,
	};
	int fd = bpf_link_create(program_fd(&xdp->program), device->ifindex, BPF_XDP, &opts);

	if (fd < 0)
		return explain(-fd, device->ifname, native, err);
	xdp->links[xdp->n_links++] = fd;
	return 0;
}

static int attach(const struct filter_site *site, bool native, void **ret_state, struct err *err)
{
	struct xdp *xdp = calloc(1, sizeof(*xdp));
	int r;

	if (!xdp)
		return err_sys(err, ENOMEM, "cannot attach an XDP program");
	*ret_state = xdp;
	xdp->links = calloc(site->n_devices + 1, sizeof(*xdp->links));
	if (!xdp->links)
		return err_sys(err, ENOMEM, "cannot attach an XDP program");
	r = program_load(&xdp->program, site->spec, DROP_ON_XDP, filter_of(site->spec)->kind.name,
			 err);
	for (size_t i = 0; !r && i < site->n_devices; i++)
		r = link_device(xdp, &site->devices[i], native, err);
	return r;
}

static int attach_native(const struct filter_site *site, void **ret_state, struct err *err)
{
	return attach(site, true, ret_state, err);
}

static int attach_generic(const struct filter_site *site, void **ret_state, struct err *err)
{
	return attach(site, false, ret_state, err);
}

static int read_counters(void *state, struct filter_counters *ret, struct err *err)
{
	const struct xdp *xdp = state;

	(void)err;
	program_read(&xdp->program, ret);
	return 0;
}

static void detach(void *state)
{
	struct xdp *xdp = state;

	for (size_t i = 0; i < xdp->n_links; i++)
		close(xdp->links[i]);
	free(xdp->links);
	program_release(&xdp->program);
	free(xdp);
}

static int check(const void *cfg, struct err *err)
{
	const struct filter_spec *spec = cfg;

	return program_check(spec, DROP_ON_XDP, filter_of(spec)->kind.name, err);
}

const struct filter filter_xdp = {
	.kind = {.name = "xdp",
		 .help = "XDP program in the driver: before the kernel makes a packet of a frame",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check},
	.xdp = XDP_HOOK_NATIVE,
	.attach = attach_native,
	.read = read_counters,
	.detach = detach,
};

const struct filter filter_xdp_generic = {
	.kind = {.name = "xdp-generic",
		 .help = "XDP program at the entry of the stack: works on any device",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check},
	.xdp = XDP_HOOK_GENERIC,
	.attach = attach_generic,
	.read = read_counters,
	.detach = detach,
};
