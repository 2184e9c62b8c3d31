/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labs in one line, for tests. */
#ifndef TESTS_TOPO_SPEC_H
#define TESTS_TOPO_SPEC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topo/lab.h"

enum { SPEC_NODE_LINE = 1, SPEC_LINK_LINE = 101 };

/*
 * nodes: "a r! b", '!' makes a router. links: "a,r; r:lan,b net=10.0.0.0/24 mtu=9000". A node or
 * link is at line SPEC_NODE_LINE or SPEC_LINK_LINE + its index of file "t".
 */
static inline struct lab_spec spec_of(const char *nodes, const char *links)
{
	struct lab_spec spec = {.name = strdup("test"), .mark = {"t", 999, 1}};
	char *text = strdup(nodes), *word, *save, *link_save;
	struct err err;

	spec.nodes = calloc(strlen(nodes) + 1, sizeof(*spec.nodes));
	spec.links = calloc(strlen(links) + 1, sizeof(*spec.links));
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct node_spec *node = &spec.nodes[spec.n_nodes];
		size_t len = strlen(word);

		assert_int_equal(opts_default(node_opts, node, &err), 0);
		node->forward = len > 1 && word[len - 1] == '!';
		word[len - node->forward] = '\0';
		node->name = strdup(word);
		node->mark = (struct mark){"t", SPEC_NODE_LINE + (unsigned int)spec.n_nodes++, 1};
	}
	free(text);
	text = strdup(links);
	for (word = strtok_r(text, ";", &link_save); word; word = strtok_r(NULL, ";", &link_save)) {
		struct link_spec *link = &spec.links[spec.n_links];
		char *key, *value;

		assert_int_equal(opts_default(link_opts, link, &err), 0);
		link->mark = (struct mark){"t", SPEC_LINK_LINE + (unsigned int)spec.n_links++, 1};
		for (key = strtok_r(word, " ", &save); key; key = strtok_r(NULL, " ", &save)) {
			value = strchr(key, '=');
			if (!value) {
				link->ends = strdup(key);
				continue;
			}
			*value++ = '\0';
			if (!strcmp(key, "name"))
				link->name = strdup(value);
			else if (!strcmp(key, "mtu"))
				link->mtu = strtoull(value, NULL, 10);
			else if (!strcmp(key, "queues"))
				link->queues = strtoull(value, NULL, 10);
			else
				assert_int_equal(
					opt_set(opts_find(link_opts, key), link, value, &err), 0);
		}
	}
	free(text);
	return spec;
}

/* n nodes "n0", "n1" …: a star around n0, or a chain. */
static inline struct lab_spec spec_row(size_t n, bool chain)
{
	struct lab_spec spec = {.name = strdup("row"), .n_nodes = n, .n_links = n - 1};
	struct err err;
	size_t i;

	spec.nodes = calloc(n, sizeof(*spec.nodes));
	spec.links = calloc(n, sizeof(*spec.links));
	for (i = 0; i < n; i++) {
		assert_int_equal(opts_default(node_opts, &spec.nodes[i], &err), 0);
		spec.nodes[i].forward = chain || !i;
		assert_true(asprintf(&spec.nodes[i].name, "n%zu", i) > 0);
	}
	for (i = 1; i < n; i++) {
		struct link_spec *link = &spec.links[i - 1];

		assert_int_equal(opts_default(link_opts, link, &err), 0);
		assert_true(asprintf(&link->ends, "n%zu,n%zu", chain ? i - 1 : 0, i) > 0);
	}
	return spec;
}

#endif
