/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the stages socket and app: a UDP socket on the test port, with a program and without. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "topo/filter/filter.h"
#include "topo/filter/program.h"

enum { RECEIVE_BYTES = 64 << 20 };

struct bound {
	struct program program;
	int fd;
};

/* Both families on one socket; without IPv6 in the kernel there is only one. */
static int open_socket(struct err *err)
{
	const struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(LAB_TEST_PORT)};
	const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6,
					  .sin6_port = htons(LAB_TEST_PORT)};
	const int off = 0, bytes = RECEIVE_BYTES;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	if (fd >= 0)
		r = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) ||
		    bind(fd, (const void *)&any6, sizeof(any6));
	else {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		r = fd < 0 || bind(fd, (const void *)&any4, sizeof(any4));
	}
	if (r) {
		r = err_sys(err, errno, "cannot bind a socket to port %d", LAB_TEST_PORT);
		if (fd >= 0)
			close(fd);
		return r;
	}
	/* As large as allowed, as bursts end here while nobody reads. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return fd;
}

static int attach_app(const struct filter_site *site, void **ret_state, struct err *err)
{
	struct bound *bound = calloc(1, sizeof(*bound));

	(void)site;
	if (!bound)
		return err_sys(err, ENOMEM, "cannot open a socket");
	*ret_state = bound;
	bound->fd = open_socket(err);
	return bound->fd < 0 ? bound->fd : 0;
}

static int attach_socket(const struct filter_site *site, void **ret_state, struct err *err)
{
	struct bound *bound;
	int r = attach_app(site, ret_state, err), fd;

	if (r)
		return r;
	bound = *ret_state;
	r = program_load(&bound->program, site->spec, DROP_ON_SOCKET,
			 filter_of(site->spec)->kind.name, err);
	if (r)
		return r;
	fd = program_fd(&bound->program);
	if (setsockopt(bound->fd, SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd)))
		return err_sys(err, errno, "cannot attach a program to a socket");
	return 0;
}

static int read_socket(void *state, struct filter_counters *ret, struct err *err)
{
	const struct bound *bound = state;

	(void)err;
	program_read(&bound->program, ret);
	return 0;
}

static void detach(void *state)
{
	struct bound *bound = state;

	if (bound->fd >= 0)
		close(bound->fd);
	program_release(&bound->program);
	free(bound);
}

static int socket_of(const void *state)
{
	const struct bound *bound = state;

	return bound->fd;
}

static int check(const void *cfg, struct err *err)
{
	const struct filter_spec *spec = cfg;

	if (spec->on)
		return err_set(err, EINVAL, "'on' is for stages that are bound to devices");
	return program_check(spec, DROP_ON_SOCKET, filter_of(spec)->kind.name, err);
}

const struct filter filter_socket = {
	.kind = {.name = "socket",
		 .help = "BPF program on the receiving UDP socket (SO_ATTACH_BPF)",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check},
	.attach = attach_socket,
	.read = read_socket,
	.detach = detach,
	.socket = socket_of,
};

const struct filter filter_app = {
	.kind = {.name = "app",
		 .help = "no rules: an application receives the datagrams and discards them",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check},
	.attach = attach_app,
	.detach = detach,
	.socket = socket_of,
};
