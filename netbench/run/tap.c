/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the packet socket that finds the largest frame a device receives. */
#include "run/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "topo/lab.h"

/* Enough to tell that a frame came; its length is in the auxiliary data. */
#define SNAP_BYTES 64
#define LOOKS_MAX  64

/* Classic BPF: pass SNAP_BYTES of incoming frames longer than `than`. */
static int pass_larger(int fd, uint32_t than)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 2, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, than, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, SNAP_BYTES),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

int tap_open(struct lab *lab, size_t link, unsigned int side, struct tap *ret, struct err *err)
{
	const struct wire *wire = lab_plan_wire(lab_plan(lab), link);
	const struct end *end = &wire->end[side];
	const struct sockaddr_ll address = {.sll_family = AF_PACKET,
					    .sll_protocol = htons(ETH_P_ALL),
					    .sll_ifindex = end->ifindex};
	const int one = 1;
	int fd;

	/* Protocol 0: nothing is received before the filter is in place. */
	fd = lab_socket(lab, end->node, AF_PACKET, SOCK_RAW, 0, err);
	if (fd < 0)
		return fd;
	if (pass_larger(fd, 0) || setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address))) {
		int code = errno;

		close(fd);
		return err_sys(err, code, "cannot look at frames on '%s'", end->ifname);
	}
	*ret = (struct tap){.fd = fd};
	return 0;
}

static uint32_t frame_length(const struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
		struct tpacket_auxdata aux;

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		return aux.tp_len;
	}
	return 0;
}

void tap_look(struct tap *tap)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	const uint32_t before = tap->largest;
	char frame[SNAP_BYTES];

	for (int i = 0; i < LOOKS_MAX; i++) {
		/* cppcheck-suppress legacyUninitvar ; it is written to */
		struct iovec iov = {frame, sizeof(frame)};
		struct msghdr msg = {.msg_iov = &iov,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control)};
		uint32_t len;

		if (recvmsg(tap->fd, &msg, MSG_DONTWAIT) < 0)
			break;
		len = frame_length(&msg);
		if (len > tap->largest)
			tap->largest = len;
	}
	if (tap->largest > before)
		pass_larger(tap->fd, tap->largest);
}

void tap_close(struct tap *tap)
{
	if (tap->fd >= 0)
		close(tap->fd);
	tap->fd = -1;
}
