/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests topo/plan.c, subnet.c, path.c, route.c and spec.c: everything planned before building. */
#include <arpa/inet.h>
#include <errno.h>

#include "tests/unit/topo_spec.h"

#include "base/rng.h"
#include "topo/path.h"
#include "topo/route.h"

static struct lab_plan *plan_ok(const struct lab_spec *spec)
{
	struct lab_plan *plan = NULL;
	struct err err = {""};

	if (lab_plan_make(spec, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void assert_addr(const struct lab_plan *plan, size_t link, unsigned int side,
			const char *addr, const char *addr6)
{
	const struct end *end = &lab_plan_wire(plan, link)->end[side];
	char text[INET6_ADDRSTRLEN];

	assert_string_equal(inet_ntop(AF_INET, &end->addr, text, sizeof(text)), addr);
	assert_string_equal(inet_ntop(AF_INET6, &end->addr6, text, sizeof(text)), addr6);
}

static void test_planned_addresses(void **state)
{
	struct lab_spec spec = spec_of("a r! b", "a,r; r,b");
	struct lab_plan *plan = plan_ok(&spec);
	const struct wire *wire = lab_plan_wire(plan, 1);

	(void)state;
	assert_addr(plan, 0, 0, "198.18.0.1", "2001:2::1");
	assert_addr(plan, 0, 1, "198.18.0.2", "2001:2::2");
	assert_addr(plan, 1, 0, "198.18.0.5", "2001:2:0:1::1");
	assert_addr(plan, 1, 1, "198.18.0.6", "2001:2:0:1::2");
	assert_int_equal(wire->prefix, 30);
	assert_int_equal(wire->prefix6, 64);
	assert_memory_equal(wire->end[1].mac, ((uint8_t[]){2, 0, 0, 0, 1, 2}), 6);
	assert_int_equal(wire->end[1].ifindex, 67);
	lab_plan_free(plan);
	lab_spec_release(&spec);
}

static void test_names(void **state)
{
	struct lab_spec spec = spec_of("a b c", "a,b; a:eth1,b; b,a; a,b name=x; a,b; a:wan,c");
	struct lab_plan *plan = plan_ok(&spec);
	static const char *const want[][3] = {
		{"a-b", "eth0", "eth0"}, {"a-b-2", "eth1", "eth1"}, {"b-a", "eth2", "eth2"},
		{"x", "eth3", "eth3"},	 {"a-b-4", "eth4", "eth4"}, {"a-c", "wan", "eth0"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < spec.n_links; i++) {
		const struct wire *wire = lab_plan_wire(plan, i);

		assert_string_equal(wire->name, want[i][0]);
		assert_string_equal(wire->end[0].ifname, i == 2 ? want[i][2] : want[i][1]);
		assert_string_equal(wire->end[1].ifname, want[i][2]);
	}
	lab_plan_free(plan);
	lab_spec_release(&spec);
}

static void test_user_nets_and_stepping_aside(void **state)
{
	struct lab_spec spec = spec_of(
		"a b", "a,b; a,b net=198.18.0.4/30 net6=2001:2::/63; a,b; a,b net=10.1.2.0/24; "
		       "a,b net6=fd00::/64; a,b net=198.18.0.12/30; a,b mtu=1279");
	struct lab_plan *plan = plan_ok(&spec);

	(void)state;
	assert_addr(plan, 0, 0, "198.18.0.1", "2001:2:0:2::1");
	assert_addr(plan, 1, 1, "198.18.0.6", "2001:2::2");
	assert_addr(plan, 2, 0, "198.18.0.9", "2001:2:0:3::1");
	assert_addr(plan, 3, 1, "10.1.2.2", "2001:2:0:4::2");
	assert_int_equal(lab_plan_wire(plan, 3)->prefix, 24);
	assert_addr(plan, 4, 0, "198.18.0.17", "fd00::1");
	assert_addr(plan, 5, 1, "198.18.0.14", "2001:2:0:5::2");
	assert_addr(plan, 6, 1, "198.18.0.22", "::");
	assert_int_equal(lab_plan_wire(plan, 6)->prefix6, 0);
	lab_plan_free(plan);
	lab_spec_release(&spec);
}

static void test_errors(void **state)
{
	static const struct {
		const char *nodes, *links, *text;
	} bad[] = {
		{"", "", "t:999:1: lab 'test' has no nodes"},
		{"a b a a", "", "t:3:1: node 'a' is there twice"},
		{"a b/c", "",
		 "t:2:1: name of node 'b/c' may only have letters, digits, '-', '_' and '.', and "
		 "must begin with a letter, digit or '_'"},
		{"a ..", "",
		 "t:2:1: name of node '..' may only have letters, digits, '-', '_' and '.', and "
		 "must begin with a letter, digit or '_'"},
		{"abcdefghijklmnopqrstuvwxyz0123456789", "",
		 "t:1:1: name of node 'abcdefghijklmnopqrstuvwxyz0123456789…' is longer than 31 "
		 "characters"},
		{"a b", "name=x",
		 "t:101:1: ends '' of a link must read 'node:interface,node:interface'"},
		{"a b", "a",
		 "t:101:1: ends 'a' of a link must read 'node:interface,node:interface'"},
		{"a b", "a,b,c",
		 "t:101:1: ends 'a,b,c' of a link must read 'node:interface,node:interface'"},
		{"a b", "a,",
		 "t:101:1: ends 'a,' of a link must read 'node:interface,node:interface'"},
		{"a b", "a:,b", "t:101:1: '' is no name for an interface"},
		{"a b", "a:lo,b", "t:101:1: 'lo' is no name for an interface"},
		{"a b", "a:x/y,b", "t:101:1: 'x/y' is no name for an interface"},
		{"a b", "a:abcdefghijklmnop,b",
		 "t:101:1: 'abcdefghijklmnop' is no name for an interface"},
		{"a b", ":x,b", "t:101:1: '' is no name for a node"},
		{"client server", "client,server; client,sever",
		 "t:102:1: link to a missing node: no node 'sever'; did you mean 'server'"},
		{"a b", "a,qqqqqq", "t:101:1: link to a missing node: no node 'qqqqqq'"},
		{"a b", "a,a:x", "t:101:1: both ends of the link are in node 'a'"},
		{"a b", "a,b name=x; a,b name=x", "t:102:1: link 'x' is there twice"},
		{"a b", "a,b; a,b name=a-b", "t:102:1: link 'a-b' is there twice"},
		{"a b c", "a:x,b; a:x,c", "t:102:1: node 'a' has two interfaces 'x'"},
		{"a b", "a,b mtu=67", "t:101:1: mtu 67 is not between 68 and 65535"},
		{"a b", "a,b mtu=65536", "t:101:1: mtu 65536 is not between 68 and 65535"},
		{"a b", "a,b queues=0", "t:101:1: queues 0 is not between 1 and 64"},
		{"a b", "a,b queues=65", "t:101:1: queues 65 is not between 1 and 64"},
		{"a b", "a,b net=10.0.0.0",
		 "t:101:1: net '10.0.0.0' of link 'a-b' is no IPv4 prefix"},
		{"a b", "a,b net=10.0.0.0/33",
		 "t:101:1: net '10.0.0.0/33' of link 'a-b' is no IPv4 prefix"},
		{"a b", "a,b net=10.0.0.0/24x",
		 "t:101:1: net '10.0.0.0/24x' of link 'a-b' is no IPv4 prefix"},
		{"a b", "a,b net=fd00::/64",
		 "t:101:1: net 'fd00::/64' of link 'a-b' is no IPv4 prefix"},
		{"a b", "a,b net6=10.0.0.0/24",
		 "t:101:1: net6 '10.0.0.0/24' of link 'a-b' is no IPv6 prefix"},
		{"a b", "a,b net=0.0.0.0/0",
		 "t:101:1: net '0.0.0.0/0' of link 'a-b' is no IPv4 prefix"},
		{"a b", "a,b net=10.0.0.1/24",
		 "t:101:1: net '10.0.0.1/24' of link 'a-b' has host bits set; did you mean "
		 "'10.0.0.0/24'"},
		{"a b", "a,b net6=fd00::1/64",
		 "t:101:1: net6 'fd00::1/64' of link 'a-b' has host bits set; did you mean "
		 "'fd00::/64'"},
		{"a b", "a,b net=10.0.0.0/31",
		 "t:101:1: net '10.0.0.0/31' of link 'a-b' is too small: two ends need a /30"},
		{"a b", "a,b net6=fd00::/127",
		 "t:101:1: net6 'fd00::/127' of link 'a-b' is too small: two ends need a /126"},
		{"a b", "a,b net=127.0.0.0/24",
		 "t:101:1: net '127.0.0.0/24' of link 'a-b' has addresses that no host may have"},
		{"a b", "a,b net=192.0.0.0/2",
		 "t:101:1: net '192.0.0.0/2' of link 'a-b' has addresses that no host may have"},
		{"a b", "a,b net6=fe80::/64",
		 "t:101:1: net6 'fe80::/64' of link 'a-b' has addresses that no host may have"},
		{"a b", "a,b net=10.0.0.0/24 name=x; a,b; a,b net=10.0.0.128/25 name=y",
		 "t:103:1: net of link 'y' overlaps that of link 'x'"},
		{"a b", "a,b net=10.0.0.128/25 name=y; a,b net=10.0.0.0/8 name=x",
		 "t:102:1: net of link 'x' overlaps that of link 'y'"},
		{"a b", "a,b net6=fd00::/64; a,b net6=fd00::/64",
		 "t:102:1: net6 of link 'a-b-2' overlaps that of link 'a-b'"},
		{"a b", "a,b net=198.18.0.0/15; a,b",
		 "t:102:1: no prefix of 198.18.0.0/15 is left for link 'a-b-2'"},
		{"a b", "a,b mtu=1279 net6=fd00::/64",
		 "t:101:1: link 'a-b' has a net6, but IPv6 needs an mtu of 1280"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct lab_spec spec = spec_of(bad[i].nodes, bad[i].links);
		struct lab_plan *plan = NULL;
		struct err err = {""};

		assert_int_equal(lab_plan_make(&spec, &plan, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].text);
		assert_null(plan);
		/* The sentence is optional. */
		assert_int_equal(lab_plan_make(&spec, &plan, NULL), -EINVAL);
		lab_spec_release(&spec);
	}
}

static void test_empty_names(void **state)
{
	struct lab_spec spec = spec_of("a b", "a,b");
	struct lab_plan *plan = NULL;
	struct err err;

	(void)state;
	spec.nodes[1].name[0] = '\0';
	assert_int_equal(lab_plan_make(&spec, &plan, &err), -EINVAL);
	assert_string_equal(err.text, "t:2:1: node without a name");
	free(spec.nodes[1].name);
	spec.nodes[1].name = NULL;
	assert_int_equal(lab_plan_make(&spec, &plan, &err), -EINVAL);
	assert_string_equal(err.text, "t:2:1: node without a name");
	lab_spec_release(&spec);
}

static void test_limits(void **state)
{
	struct lab_spec spec = spec_row(LAB_NODES_MAX, false);
	struct lab_plan *plan = plan_ok(&spec);
	struct err err;

	(void)state;
	assert_addr(plan, LAB_NODES_MAX - 2, 0, "198.18.63.249", "2001:2:0:ffe::1");
	lab_plan_free(plan);
	lab_spec_release(&spec);

	spec = spec_row(LAB_NODES_MAX + 1, false);
	spec.nodes[LAB_NODES_MAX].mark = (struct mark){"t", 7, 2};
	assert_int_equal(lab_plan_make(&spec, &plan, &err), -EINVAL);
	assert_string_equal(err.text, "t:7:2: lab 'row' has 4097 nodes, more than 4096");
	lab_spec_release(&spec);
}

static struct lab_spec parallel_links(size_t n)
{
	struct lab_spec spec = spec_of("a b", "");
	struct err err;

	free(spec.links);
	spec.links = calloc(n, sizeof(*spec.links));
	for (; spec.n_links < n; spec.n_links++) {
		assert_int_equal(opts_default(link_opts, &spec.links[spec.n_links], &err), 0);
		spec.links[spec.n_links].ends = strdup("a,b");
	}
	return spec;
}

static void test_many_links(void **state)
{
	struct lab_spec spec = parallel_links(LAB_LINKS_MAX);
	struct lab_plan *plan = plan_ok(&spec);
	struct err err;

	(void)state;
	assert_addr(plan, LAB_LINKS_MAX - 1, 1, "198.18.255.254", "2001:2:0:3fff::2");
	assert_string_equal(lab_plan_wire(plan, LAB_LINKS_MAX - 1)->name, "a-b-16384");
	assert_string_equal(lab_plan_wire(plan, LAB_LINKS_MAX - 1)->end[0].ifname, "eth16383");
	lab_plan_free(plan);
	lab_spec_release(&spec);

	spec = parallel_links(LAB_LINKS_MAX + 1);
	assert_int_equal(lab_plan_make(&spec, &plan, &err), -EINVAL);
	assert_string_equal(err.text, "lab 'test' has 16385 links, more than 16384");
	lab_spec_release(&spec);
}

static void test_node_lookup(void **state)
{
	struct lab_spec spec = spec_of("client router! server", "client,router; router,server");
	struct lab_plan *plan = plan_ok(&spec);
	struct err err;

	(void)state;
	assert_int_equal(lab_plan_node(plan, "client", &err), 0);
	assert_int_equal(lab_plan_node(plan, "server", &err), 2);
	assert_int_equal(lab_plan_node(plan, "severr", &err), -ENOENT);
	assert_string_equal(err.text, "no node 'severr'; did you mean 'server'");
	assert_int_equal(lab_plan_node(plan, "", &err), -ENOENT);
	lab_plan_free(plan);
	lab_spec_release(&spec);
}

static void test_paths(void **state)
{
	/* Two ways from a to d: r1 is nearer by link order, h does not forward. */
	struct lab_spec spec =
		spec_of("a r1! r2! d h lone", "a,r1; a,r2; r2,d; r1,d; h,d; a,h mtu=1000");
	struct lab_plan *plan = plan_ok(&spec);
	struct sockaddr_storage from, to;
	struct hop *hops = NULL;
	char text[INET6_ADDRSTRLEN];
	struct err err;

	(void)state;
	assert_int_equal(lab_plan_path(plan, 0, 3, &hops, &err), 2);
	assert_int_equal(hops[0].link, 0);
	assert_int_equal(hops[0].side, 0);
	assert_int_equal(hops[1].link, 3);
	assert_int_equal(hops[1].side, 0);
	free(hops);
	assert_int_equal(lab_plan_path(plan, 3, 0, &hops, &err), 2);
	assert_int_equal(hops[0].link, 2);
	assert_int_equal(hops[0].side, 1);
	free(hops);
	assert_int_equal(lab_plan_path(plan, 0, 0, &hops, &err), 0);
	free(hops);
	assert_int_equal(lab_plan_path(plan, 0, 5, &hops, &err), -ENETUNREACH);
	assert_string_equal(err.text, "no path from node 'a' to node 'lone'");

	assert_int_equal(lab_plan_addresses(plan, 0, 3, AF_INET, &from, &to, &err), 0);
	inet_ntop(AF_INET, &((struct sockaddr_in *)&from)->sin_addr, text, sizeof(text));
	assert_string_equal(text, "198.18.0.1");
	inet_ntop(AF_INET, &((struct sockaddr_in *)&to)->sin_addr, text, sizeof(text));
	assert_string_equal(text, "198.18.0.14");
	/* The direct link to h is too narrow for IPv6, and no router is beside h. */
	assert_int_equal(lab_plan_addresses(plan, 0, 4, AF_INET, &from, &to, &err), 0);
	assert_int_equal(lab_plan_addresses(plan, 0, 4, AF_INET6, &from, &to, &err), -ENETUNREACH);
	assert_string_equal(err.text, "no IPv6 path from node 'a' to node 'h'");
	lab_plan_free(plan);
	lab_spec_release(&spec);
}

/* What the kernel would do: connected prefixes first, then the longest matching route. */
static const struct hop *forward(const struct lab_plan *plan, size_t node,
				 const struct router *router, uint32_t dst)
{
	const struct route *best = NULL;
	size_t i;

	for (i = plan->ends_from[node]; i < plan->ends_from[node + 1]; i++) {
		const struct wire *wire = &plan->wires[plan->ends[i].link];

		if ((ntohl(wire->end[0].addr.s_addr) ^ dst) >> (32 - wire->prefix) == 0)
			return &plan->ends[i];
	}
	for (i = 0; i < router->n_routes; i++) {
		const struct route *route = &router->routes[i];
		uint32_t net;

		memcpy(&net, route->dst, 4);
		if (route->len && (ntohl(net) ^ dst) >> (32 - route->len))
			continue;
		if (!best || route->len > best->len)
			best = route;
	}
	return best ? &best->via : NULL;
}

static void follow(const struct lab_plan *plan, struct router *router, size_t from, size_t to)
{
	struct hop *hops = NULL;
	struct sockaddr_storage own, far;
	struct err err;
	int n = lab_plan_path(plan, from, to, &hops, &err), i;
	size_t at = from;
	uint32_t dst;

	if (n <= 0) {
		free(hops);
		return;
	}
	assert_int_equal(lab_plan_addresses(plan, from, to, AF_INET, &own, &far, &err), 0);
	dst = ntohl(((struct sockaddr_in *)&far)->sin_addr.s_addr);
	for (i = 0; i < n; i++) {
		const struct hop *hop;

		assert_true(at == from || plan->spec->nodes[at].forward);
		router_work(router, at);
		hop = forward(plan, at, router, dst);
		assert_non_null(hop);
		assert_int_equal(hop->link, hops[i].link);
		assert_int_equal(hop->side, hops[i].side);
		at = plan->wires[hop->link].end[!hop->side].node;
	}
	assert_int_equal(at, to);
	free(hops);
}

static void test_routes_follow_paths(void **state)
{
	struct rng rng;
	unsigned int round;

	(void)state;
	rng_seed(&rng, 1);
	for (round = 0; round < 200; round++) {
		size_t n = 2 + rng_below(&rng, 9), n_links = 1 + rng_below(&rng, 2 * n), i, j;
		char nodes[256] = "", links[1024] = "";
		struct lab_spec spec;
		struct lab_plan *plan;
		struct router router;
		struct err err;

		for (i = 0; i < n; i++)
			sprintf(nodes + strlen(nodes), "n%zu%s ", i, rng_below(&rng, 3) ? "!" : "");
		for (i = 0; i < n_links; i++) {
			size_t a = rng_below(&rng, n), b = (a + 1 + rng_below(&rng, n - 1)) % n;

			sprintf(links + strlen(links), "n%zu,n%zu;", a, b);
		}
		spec = spec_of(nodes, links);
		plan = plan_ok(&spec);
		assert_int_equal(router_init(&router, plan, AF_INET, &err), 0);
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				follow(plan, &router, i, j);
		router_release(&router);
		lab_plan_free(plan);
		lab_spec_release(&spec);
	}
}

static void test_few_routes(void **state)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct router router;
	struct lab_spec spec;
	struct lab_plan *plan;
	struct err err;
	size_t f, i;

	(void)state;
	for (f = 0; f < 2; f++) {
		spec = spec_row(1000, false);
		plan = plan_ok(&spec);
		assert_int_equal(router_init(&router, plan, families[f], &err), 0);
		router_work(&router, 0);
		assert_int_equal(router.n_routes, 0);
		router_work(&router, 999);
		assert_int_equal(router.n_routes, 1);
		assert_int_equal(router.routes[0].len, 0);
		assert_int_equal(router.routes[0].via.link, 998);
		assert_int_equal(router.routes[0].via.side, 1);
		router_release(&router);
		lab_plan_free(plan);
		lab_spec_release(&spec);

		spec = spec_row(200, true);
		plan = plan_ok(&spec);
		assert_int_equal(router_init(&router, plan, families[f], &err), 0);
		for (i = 0; i < 200; i++) {
			router_work(&router, i);
			assert_in_range(router.n_routes, 1, 15);
		}
		router_release(&router);
		lab_plan_free(plan);
		lab_spec_release(&spec);
	}
}

static void test_copy(void **state)
{
	struct lab_spec spec = spec_of("a b!", "a,b net=10.0.0.0/8 name=x offloads=tx,gro"), copy;

	(void)state;
	assert_int_equal(lab_spec_copy(&copy, &spec), 0);
	lab_spec_release(&spec);
	assert_string_equal(copy.name, "test");
	assert_int_equal(copy.n_nodes, 2);
	assert_string_equal(copy.nodes[1].name, "b");
	assert_true(copy.nodes[1].forward);
	assert_int_equal(copy.nodes[1].mark.line, 2);
	assert_string_equal(copy.links[0].name, "x");
	assert_string_equal(copy.links[0].net, "10.0.0.0/8");
	assert_null(copy.links[0].net6);
	assert_int_equal(copy.links[0].offloads, 1 << 0 | 1 << 4);
	assert_int_equal(copy.links[0].mtu, 1500);
	lab_spec_release(&copy);
	lab_spec_release(&copy);
	lab_spec_release(NULL);
}

static void assert_same_wire(const struct wire *a, const struct wire *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->prefix, b->prefix);
	assert_int_equal(a->prefix6, b->prefix6);
	for (unsigned int side = 0; side < 2; side++) {
		const struct end *x = &a->end[side], *y = &b->end[side];

		assert_int_equal(x->node, y->node);
		assert_string_equal(x->ifname, y->ifname);
		assert_int_equal(x->ifindex, y->ifindex);
		assert_memory_equal(x->mac, y->mac, sizeof(x->mac));
		assert_int_equal(x->addr.s_addr, y->addr.s_addr);
		assert_memory_equal(&x->addr6, &y->addr6, sizeof(x->addr6));
	}
}

static void test_deterministic(void **state)
{
	struct lab_spec spec = spec_of("a r! b", "a,r; r,b net=10.0.0.0/24; a,b");
	struct lab_plan *one = plan_ok(&spec), *two = plan_ok(&spec);
	size_t i;

	(void)state;
	for (i = 0; i < spec.n_links; i++)
		assert_same_wire(lab_plan_wire(one, i), lab_plan_wire(two, i));
	lab_plan_free(one);
	lab_plan_free(two);
	lab_plan_free(NULL);
	lab_spec_release(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planned_addresses),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_user_nets_and_stepping_aside),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_empty_names),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_links),
		cmocka_unit_test(test_node_lookup),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_routes_follow_paths),
		cmocka_unit_test(test_few_routes),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_deterministic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
