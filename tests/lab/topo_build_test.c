/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests small real labs: reachability both ways, silence, counters, sockets, nothing left behind. */
#include "tests/lab/topo_lab.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const uint64_t second_ns = UINT64_C(1000000000);

static struct lab *routed(void)
{
	struct lab_spec spec = spec_of("a r! b", "a,r; r,b");

	return build_ok(&spec);
}

static void reach_all(struct lab *lab)
{
	struct lab_pair pairs[64];
	struct err err = {""};
	size_t n = lab_spec(lab)->n_nodes, i, j, used = 0;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			pairs[used++] = (struct lab_pair){i, j};
	if (lab_reach(lab, AF_INET, pairs, used, 2 * second_ns, &err) ||
	    lab_reach(lab, AF_INET6, pairs, used, 2 * second_ns, &err))
		fail_msg("%s", err.text);
}

static void test_reach(void **state)
{
	struct lab_pair silent[] = {{0, 2}, {2, 0}};
	struct lab_spec spec;
	struct lab *lab;
	struct err err;

	(void)state;
	NEED_ROOT();
	lab = routed();
	reach_all(lab);
	lab_free(lab);

	spec = spec_of("a r! s! b", "a,r net=10.0.0.0/8 net6=fd00::/126 mtu=9000; r,s; s:x,b; r,s");
	lab = build_ok(&spec);
	reach_all(lab);
	lab_free(lab);

	/* The node between does not forward. */
	spec = spec_of("a r b", "a,r; r,b");
	lab = build_ok(&spec);
	assert_int_equal(lab_reach(lab, AF_INET, silent, 2, second_ns, &err), -ENETUNREACH);
	assert_string_equal(err.text, "no path from node 'a' to node 'b'");
	lab_free(lab);
}

/* A link set down by hand: the plan knows a path, the packets do not. */
static void test_silent_pair_is_named(void **state)
{
	struct lab_pair pairs[] = {{0, 1}, {0, 2}, {1, 2}};
	struct ifreq ifr = {.ifr_name = "eth0"};
	struct err err;
	struct lab *lab;
	int fd;

	(void)state;
	NEED_ROOT();
	lab = routed();
	fd = lab_socket(lab, 2, AF_INET, SOCK_DGRAM, 0, &err);
	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &ifr), 0);
	close(fd);
	assert_int_equal(lab_reach(lab, AF_INET6, pairs, 3, second_ns / 10, &err), -EHOSTUNREACH);
	assert_string_equal(err.text, "node 'a' gets no IPv6 echo from node 'b' within 0.1 s (1 of "
				      "3 pairs answered)");
	lab_free(lab);
}

static void open_tap(struct lab *lab, size_t link, unsigned int side, struct pollfd *ret)
{
	const struct end *end = &lab_plan_wire(lab_plan(lab), link)->end[side];
	struct sockaddr_ll addr = {.sll_family = AF_PACKET,
				   .sll_protocol = htons(ETH_P_ALL),
				   .sll_ifindex = end->ifindex};
	struct err err;
	int fd = lab_socket(lab, end->node, AF_PACKET, SOCK_RAW, 0, &err);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (void *)&addr, sizeof(addr)), 0);
	*ret = (struct pollfd){.fd = fd, .events = POLLIN};
}

static uint64_t packets_on(struct lab *lab, size_t link, unsigned int side)
{
	struct link_counters counters;
	struct err err;

	assert_int_equal(lab_link_counters(lab, link, side, &counters, &err), 0);
	assert_int_equal(counters.rx_errors + counters.tx_errors, 0);
	assert_int_equal(counters.rx_dropped + counters.tx_dropped, 0);
	return counters.rx_packets + counters.tx_packets;
}

static void test_idle_links_are_silent(void **state)
{
	struct pollfd taps[4];
	struct lab *lab;
	size_t i;

	(void)state;
	NEED_ROOT();
	lab = routed();
	for (i = 0; i < 4; i++)
		open_tap(lab, i / 2, i % 2, &taps[i]);
	/* MLD reports, router solicitations and the like come within a second or two. */
	if (poll(taps, 4, 3000))
		fail_msg("a packet on an idle link");
	for (i = 0; i < 4; i++) {
		assert_int_equal(packets_on(lab, i / 2, i % 2), 0);
		close(taps[i].fd);
	}
	/* One echo and its answer, on each of the links, and nothing else: no ARP, no ND. */
	assert_int_equal(lab_reach(lab, AF_INET, &(struct lab_pair){0, 2}, 1, second_ns, NULL), 0);
	assert_int_equal(lab_reach(lab, AF_INET6, &(struct lab_pair){2, 0}, 1, second_ns, NULL), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(packets_on(lab, i / 2, i % 2), 4);
	lab_free(lab);
}

static void test_link_properties(void **state)
{
	struct lab_spec spec = spec_of("a b", "a:wan,b mtu=68 queues=3; a,b mtu=65535 queues=64");
	struct ifreq ifr;
	struct lab *lab;
	struct err err;
	size_t l, side;
	int fd;

	(void)state;
	NEED_ROOT();
	lab = build_ok(&spec);
	for (l = 0; l < 2; l++)
		for (side = 0; side < 2; side++) {
			const struct end *end = &lab_plan_wire(lab_plan(lab), l)->end[side];

			fd = lab_socket(lab, end->node, AF_INET, SOCK_DGRAM, 0, &err);
			assert_true(fd >= 0);
			memset(&ifr, 0, sizeof(ifr));
			strcpy(ifr.ifr_name, end->ifname);
			assert_int_equal(ioctl(fd, SIOCGIFMTU, &ifr), 0);
			assert_int_equal(ifr.ifr_mtu, l ? 65535 : 68);
			assert_int_equal(ioctl(fd, SIOCGIFHWADDR, &ifr), 0);
			assert_memory_equal(ifr.ifr_hwaddr.sa_data, end->mac, 6);
			assert_int_equal(ioctl(fd, SIOCGIFINDEX, &ifr), 0);
			assert_int_equal(ifr.ifr_ifindex, end->ifindex);
			assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &ifr), 0);
			assert_true(ifr.ifr_flags & IFF_UP && ifr.ifr_flags & IFF_RUNNING);
			close(fd);
		}
	assert_int_equal(lab_reach(lab, AF_INET, &(struct lab_pair){0, 1}, 1, second_ns, NULL), 0);
	lab_free(lab);
}

static void send_udp(struct lab *lab, int family, size_t n)
{
	struct sockaddr_storage from, to;
	struct err err;
	int fd;

	assert_int_equal(lab_plan_addresses(lab_plan(lab), 0, 2, family, &from, &to, &err), 0);
	/* sin_port and sin6_port are at the same place. */
	((struct sockaddr_in *)&to)->sin_port = htons(9);
	fd = lab_socket(lab, 0, family, SOCK_DGRAM, 0, &err);
	assert_true(fd >= 0);
	while (n--)
		assert_int_equal(sendto(fd, "x", 1, 0, (void *)&to, sizeof(to)), 1);
	close(fd);
}

static void test_node_counters(void **state)
{
	struct node_counters before, after;
	struct lab *lab;
	struct err err;

	(void)state;
	NEED_ROOT();
	lab = routed();
	assert_int_equal(lab_node_counters(lab, 2, &before, &err), 0);
	assert_int_equal(before.udp_no_ports, 0);
	send_udp(lab, AF_INET, 3);
	send_udp(lab, AF_INET6, 4);
	/* Whatever an echo finds in front of it has been counted when the echo is answered. */
	assert_int_equal(lab_reach(lab, AF_INET, &(struct lab_pair){0, 2}, 1, second_ns, &err), 0);
	assert_int_equal(lab_node_counters(lab, 2, &after, &err), 0);
	assert_int_equal(after.udp_no_ports, 7);
	assert_int_equal(after.udp_in_datagrams, 0);
	assert_int_equal(lab_node_counters(lab, 0, &after, &err), 0);
	assert_int_equal(after.udp_out_datagrams, 7);
	lab_free(lab);
}

static ino_t where(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/thread-self/ns/net", &st), 0);
	return st.st_ino;
}

static void test_enter_and_leave(void **state)
{
	ino_t home = where(), inside;
	struct lab *lab;
	struct stat st;
	struct err err;
	int fd;

	(void)state;
	NEED_ROOT();
	lab = routed();
	assert_int_equal(where(), home);
	assert_int_equal(lab_enter(lab, 1, &err), 0);
	inside = where();
	assert_int_equal(fstat(lab_netns(lab, 1), &st), 0);
	assert_int_equal(st.st_ino, inside);
	/* A socket in another node does not move the thread. */
	fd = lab_socket(lab, 0, AF_INET, SOCK_DGRAM, 0, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(where(), inside);
	assert_int_equal(lab_leave(lab, &err), 0);
	assert_int_equal(where(), home);
	assert_int_equal(lab_socket(lab, 0, AF_INET, 77, 0, &err), -EINVAL);
	assert_string_equal(err.text, "cannot open a socket in node 'a': Invalid argument");
	lab_free(lab);
}

static void test_kernel_errors_are_explained(void **state)
{
	struct nl_batch batch;
	struct nl nl;
	struct err err;
	size_t i;

	(void)state;
	NEED_ROOT();
	assert_int_equal(nl_open(&nl, "x", &err), 0);
	assert_int_equal(nl_batch_init(&batch, &err), 0);
	nl_begin(&batch, &nl);
	/* Far more failures than the socket can hold reports for. */
	for (i = 0; i < 5000; i++) {
		struct nlmsghdr *nlh = nl_put(&batch, RTM_NEWLINK, 0, "set up", "nothing");
		struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

		ifi->ifi_index = 0x7ffffff0;
	}
	assert_int_equal(nl_commit(&batch, &err), -ENODEV);
	assert_string_equal(err.text, "cannot set up 'nothing' in node 'x': No such device");
	/* The socket is as good as new afterwards. */
	nl_begin(&batch, &nl);
	mnl_nlmsg_put_extra_header(nl_put(&batch, RTM_NEWNSID, 0, "number", "y"),
				   sizeof(struct rtgenmsg));
	assert_int_equal(nl_commit(&batch, &err), -EINVAL);
	assert_string_equal(err.text, "cannot number 'y' in node 'x': nsid is missing: Invalid "
				      "argument");
	nl_batch_release(&batch);
	nl_close(&nl);
}

static void test_nothing_is_left(void **state)
{
	char *before, *after;
	struct nl witness;
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	before = inventory();
	lab = routed();
	reach_all(lab);
	lab_free(lab);
	lab_free(NULL);
	after = inventory();
	assert_string_equal(after, before);
	free(after);
	free(before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);

	lab = routed();
	witness_open(&witness, lab);
	lab_free(lab);
	witness_wait(&witness, 3);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* In a child: the way back from here leads nowhere. Exit codes say what went wrong. */
static int in_user_namespace(void)
{
	struct lab_pair pair = {0, 2};
	char *before, *after;
	struct lab_spec spec;
	struct lab *lab;
	struct err err;
	ino_t home;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) || !write_file("/proc/self/uid_map", "0 0 1"))
		return 77;
	home = where();
	lab = routed();
	if (lab_reach(lab, AF_INET, &pair, 1, second_ns, &err) ||
	    lab_reach(lab, AF_INET6, &pair, 1, second_ns, &err))
		return 1;
	lab_free(lab);
	/* The lab's namespaces end in the background, so nothing smaller is certain to be hit. */
	if (!write_file("/proc/sys/user/max_net_namespaces", "12"))
		return 2;
	before = inventory();
	spec = spec_row(20, false);
	lab = NULL;
	if (lab_build(&spec, &lab, &err) != -ENOSPC || lab || where() != home)
		return 3;
	lab_spec_release(&spec);
	if (!strstr(err.text, "cannot make a network namespace for node 'n"))
		return 4;
	after = inventory();
	if (strcmp(before, after))
		return 5;
	free(before);
	free(after);
	return 0;
}

static void test_build_that_fails_half_way(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	NEED_ROOT();
	pid = fork();
	if (!pid)
		_exit(in_user_namespace());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("user namespaces are not allowed here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_without_privileges(void **state)
{
	struct lab_spec spec = spec_of("a b", "a,b");
	struct lab *lab = NULL;
	struct err err;
	uid_t uid = geteuid();

	(void)state;
	assert_int_equal(seteuid(uid ? uid : 65534), 0);
	assert_int_equal(lab_build(&spec, &lab, &err), -EPERM);
	assert_int_equal(seteuid(uid), 0);
	assert_null(lab);
	assert_string_equal(err.text, "cannot make a network namespace for node 'a': Operation not "
				      "permitted");
	lab_spec_release(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_silent_pair_is_named),
		cmocka_unit_test(test_idle_links_are_silent),
		cmocka_unit_test(test_link_properties),
		cmocka_unit_test(test_node_counters),
		cmocka_unit_test(test_enter_and_leave),
		cmocka_unit_test(test_kernel_errors_are_explained),
		cmocka_unit_test(test_build_that_fails_half_way),
		cmocka_unit_test(test_without_privileges),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
