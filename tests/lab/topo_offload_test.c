/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that offloads are what was asked for: read back, and seen in the size of real frames. */
#include "tests/lab/topo_lab.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "topo/offload.h"

enum { MTU = 1500, FRAME_MAX = MTU + ETH_HLEN, STREAM_BYTES = 8 << 20 };

static void assert_offloads(struct lab *lab, size_t link, uint64_t on)
{
	struct offload_state states[OFFLOADS];
	unsigned int side, i;
	struct err err;

	for (side = 0; side < 2; side++) {
		assert_int_equal(lab_offloads(lab, link, side, states, &err), 0);
		for (i = 0; i < OFFLOADS; i++) {
			assert_string_equal(states[i].name, offload_names[i]);
			assert_int_equal(states[i].wanted, on >> i & 1);
			assert_int_equal(states[i].on, states[i].known && states[i].wanted);
		}
		/* Every kernel that has veth has these. */
		for (i = 0; i < 5; i++)
			assert_true(states[i].known);
	}
}

static void test_read_back(void **state)
{
	struct lab_spec spec = spec_of("a b", "a,b; a,b offloads=on; a,b offloads=tx,gro");
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	lab = build_ok(&spec);
	assert_offloads(lab, 0, 0);
	assert_offloads(lab, 1, OFFLOADS_ALL);
	assert_offloads(lab, 2, 1 << 0 | 1 << 4);
	lab_free(lab);
}

/* As on a kernel without feature strings: five of them can be set one by one. */
static void test_old_ioctls(void **state)
{
	const struct offload_map none = {0};
	struct lab_spec spec = spec_of("a b", "a,b");
	struct offload_state states[OFFLOADS];
	struct lab *lab;
	struct err err;
	unsigned int i;
	int fd;

	(void)state;
	NEED_ROOT();
	lab = build_ok(&spec);
	fd = lab_socket(lab, 0, AF_INET, SOCK_DGRAM, 0, &err);
	assert_true(fd >= 0);
	assert_int_equal(offload_set(fd, "eth0", &none, OFFLOADS_ALL, &err), 0);
	assert_int_equal(offload_get(fd, "eth0", &none, OFFLOADS_ALL, states, &err), 0);
	for (i = 0; i < OFFLOADS; i++)
		assert_int_equal(states[i].on, i < 5);
	assert_int_equal(offload_set(fd, "eth0", &none, 1 << 1, &err), 0);
	assert_int_equal(offload_get(fd, "eth0", &none, 1 << 1, states, &err), 0);
	for (i = 0; i < OFFLOADS; i++)
		assert_int_equal(states[i].on, i == 1);
	assert_int_equal(offload_set(fd, "eth9", &none, 0, &err), -ENODEV);
	assert_string_equal(err.text, "cannot set the offloads of link 'eth9': No such device");
	close(fd);
	lab_free(lab);
}

struct stream {
	struct lab *lab;
	int tap, in, out;
	size_t largest; /* frame that came in at the receiver */
};

static void open_tap(struct stream *stream)
{
	const struct end *end = &lab_plan_wire(lab_plan(stream->lab), 0)->end[1];
	struct sockaddr_ll addr = {.sll_family = AF_PACKET,
				   .sll_protocol = htons(ETH_P_ALL),
				   .sll_ifindex = end->ifindex};
	int room = 64 << 20;
	struct err err;

	stream->tap =
		lab_socket(stream->lab, end->node, AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0, &err);
	assert_true(stream->tap >= 0);
	setsockopt(stream->tap, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	assert_int_equal(bind(stream->tap, (void *)&addr, sizeof(addr)), 0);
}

static void open_stream(struct stream *stream)
{
	struct sockaddr_storage from, to;
	socklen_t len = sizeof(to);
	struct err err;
	int listener;

	assert_int_equal(lab_plan_addresses(lab_plan(stream->lab), 0, 1, AF_INET, &from, &to, &err),
			 0);
	listener = lab_socket(stream->lab, 1, AF_INET, SOCK_STREAM, 0, &err);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (void *)&to, sizeof(struct sockaddr_in)), 0);
	assert_int_equal(getsockname(listener, (void *)&to, &len), 0);
	assert_int_equal(listen(listener, 1), 0);
	stream->out = lab_socket(stream->lab, 0, AF_INET, SOCK_STREAM, 0, &err);
	assert_true(stream->out >= 0);
	assert_int_equal(connect(stream->out, (void *)&to, len), 0);
	stream->in = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(stream->in >= 0);
	close(listener);
}

static void read_tap(struct stream *stream)
{
	struct sockaddr_ll from;
	socklen_t len = sizeof(from);
	char byte;
	ssize_t got;

	while ((got = recvfrom(stream->tap, &byte, 1, MSG_TRUNC, (void *)&from, &len)) > 0) {
		if (from.sll_pkttype != PACKET_OUTGOING && (size_t)got > stream->largest)
			stream->largest = (size_t)got;
		len = sizeof(from);
	}
}

static size_t largest_frame(const char *links)
{
	struct lab_spec spec = spec_of("a b", links);
	struct stream stream = {0};
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);
	size_t sent = 0, received = 0;
	char *buf = calloc(1, 1 << 18);
	ssize_t n;

	assert_non_null(buf);
	stream.lab = build_ok(&spec);
	open_tap(&stream);
	open_stream(&stream);
	while (received < STREAM_BYTES) {
		n = sent < STREAM_BYTES ? send(stream.out, buf, 1 << 18, MSG_DONTWAIT) : 0;
		sent += n > 0 ? (size_t)n : 0;
		n = recv(stream.in, buf, 1 << 18, 0);
		assert_true(n > 0);
		received += (size_t)n;
		read_tap(&stream);
	}
	assert_int_equal(getsockopt(stream.tap, SOL_PACKET, PACKET_STATISTICS, &stats, &len), 0);
	assert_int_equal(stats.tp_drops, 0);
	close(stream.tap);
	close(stream.in);
	close(stream.out);
	lab_free(stream.lab);
	free(buf);
	return stream.largest;
}

static void test_frames(void **state)
{
	(void)state;
	NEED_ROOT();
	assert_int_equal(largest_frame("a,b"), FRAME_MAX);
	/* The same probe does see the large ones when they are allowed. */
	assert_in_range(largest_frame("a,b offloads=on"), FRAME_MAX + 1, 1 << 20);
	assert_in_range(largest_frame("a,b offloads=tx,tso,gso"), FRAME_MAX + 1, 1 << 20);
	assert_in_range(largest_frame("a,b offloads=gro"), FRAME_MAX + 1, 1 << 20);
	assert_int_equal(largest_frame("a,b offloads=tx,rx,udp-segmentation"), FRAME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_back),
		cmocka_unit_test(test_old_ioctls),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
