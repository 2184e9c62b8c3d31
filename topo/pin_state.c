/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the format of /run/netbench/LAB. */
#include "topo/pin_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topo/filter/filter.h"
#include "topo/node.h"
#include "topo/plan.h"

static const char head[] = "netbench-lab 1";

void pin_state_release(struct pin_state *state)
{
	lab_spec_release(&state->spec);
	free(state->inodes);
	state->inodes = NULL;
}

static char *prefix_text(int family, const void *first, unsigned int len)
{
	char addr[INET6_ADDRSTRLEN], *text;
	uint8_t net[16] = {0};
	size_t bytes = family == AF_INET ? 4 : 16;

	memcpy(net, first, bytes);
	net[bytes - 1]--;
	inet_ntop(family, net, addr, sizeof(addr));
	return asprintf(&text, "%s/%u", addr, len) < 0 ? NULL : text;
}

static bool write_out(const struct lab *lab, size_t l, struct link_spec *link)
{
	const struct wire *wire = &lab->plan->wires[l];
	const struct end *end = wire->end;
	char *ends;

	free(link->name);
	free(link->ends);
	free(link->net);
	free(link->net6);
	link->net6 = NULL;
	link->name = strdup(wire->name);
	link->net = prefix_text(AF_INET, &end[0].addr, wire->prefix);
	if (wire->prefix6)
		link->net6 = prefix_text(AF_INET6, &end[0].addr6, wire->prefix6);
	link->ends = NULL;
	if (asprintf(&ends, "%s:%s,%s:%s", lab->spec.nodes[end[0].node].name, end[0].ifname,
		     lab->spec.nodes[end[1].node].name, end[1].ifname) >= 0)
		link->ends = ends;
	return link->name && link->ends && link->net && (link->net6 || !wire->prefix6);
}

int pin_state_of(const struct lab *lab, struct pin_state *ret, struct err *err)
{
	struct pin_state state = {0};
	bool ok = !lab_spec_copy(&state.spec, &lab->spec);
	struct stat st;
	size_t i;

	state.inodes = calloc(lab->spec.n_nodes + 1, sizeof(*state.inodes));
	ok = ok && state.inodes;
	for (i = 0; ok && i < lab->spec.n_links; i++)
		ok = write_out(lab, i, &state.spec.links[i]);
	for (i = 0; ok && i < lab->spec.n_nodes; i++)
		if (!fstat(lab->nodes[i].netns, &st))
			state.inodes[i] = st.st_ino;
	if (ok) {
		*ret = state;
		return 0;
	}
	pin_state_release(&state);
	return err_sys(err, ENOMEM, "cannot describe the lab");
}

/* A line "filter", and one for each option that is set; a list has one for each text. */
static void write_filter(FILE *file, const struct filter_spec *filter)
{
	char value[4200];

	fputs("filter\n", file);
	for (const struct opt *opt = filter_opts; opt->name; opt++) {
		/* The ends that are recorded have the new names already. */
		if (opt->offset == offsetof(struct filter_spec, map))
			continue;
		if (opt->type == OPT_LIST) {
			const struct texts *texts =
				(const void *)((const char *)filter + opt->offset);

			for (size_t i = 0; i < texts->n; i++)
				fprintf(file, "option %s %s\n", opt->name, texts->list[i]);
			continue;
		}
		opt_text(opt, filter, value, sizeof(value));
		if (*value)
			fprintf(file, "option %s %s\n", opt->name, value);
	}
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t done;

	for (; len; text += done, len -= (size_t)done) {
		done = write(fd, text, len);
		if (done < 0)
			return -errno;
	}
	return 0;
}

int pin_state_write(int fd, const struct pin_state *state, struct err *err)
{
	const struct lab_spec *spec = &state->spec;
	size_t len = 0, i;
	char *text = NULL;
	FILE *file = open_memstream(&text, &len);
	int rc = -ENOMEM;

	if (!file)
		return err_sys(err, ENOMEM, "cannot describe the lab");
	fprintf(file, "%s\n", head);
	for (i = 0; i < spec->n_nodes; i++)
		fprintf(file, "node %s %d %" PRIu64 "\n", spec->nodes[i].name,
			spec->nodes[i].forward, state->inodes[i]);
	for (i = 0; i < spec->n_links; i++) {
		const struct link_spec *link = &spec->links[i];

		fprintf(file, "link %s %s %s %s %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", link->name,
			link->ends, link->net, link->net6 ? link->net6 : "-", link->mtu,
			link->queues, link->offloads);
	}
	for (i = 0; i < spec->n_filters; i++)
		write_filter(file, &spec->filters[i]);
	if (!fclose(file))
		rc = write_all(fd, text, len);
	free(text);
	return rc ? err_sys(err, -rc, "cannot write the state of the lab") : 0;
}

static char *duplicate(const char *text)
{
	return strcmp(text, "-") ? strdup(text) : NULL;
}

static bool read_node(struct pin_state *state, const char *line)
{
	struct node_spec *node = &state->spec.nodes[state->spec.n_nodes];
	char name[NODE_NAME_MAX];
	int forward;

	if (sscanf(line, "node %31s %d %" SCNu64, name, &forward,
		   &state->inodes[state->spec.n_nodes]) != 3)
		return false;
	*node = (struct node_spec){.name = strdup(name), .forward = forward != 0};
	state->spec.n_nodes++;
	return node->name;
}

static bool read_link(struct pin_state *state, const char *line)
{
	struct link_spec *link = &state->spec.links[state->spec.n_links];
	char name[72], ends[128], net[64], net6[64];

	if (sscanf(line, "link %71s %127s %63s %63s %" SCNu64 " %" SCNu64 " %" SCNx64, name, ends,
		   net, net6, &link->mtu, &link->queues, &link->offloads) != 7)
		return false;
	link->name = strdup(name);
	link->ends = strdup(ends);
	link->net = duplicate(net);
	link->net6 = duplicate(net6);
	state->spec.n_links++;
	return link->name && link->ends;
}

static bool read_filter(struct pin_state *state)
{
	struct lab_spec *spec = &state->spec;
	struct filter_spec *list = reallocarray(spec->filters, spec->n_filters + 1, sizeof(*list));

	if (!list)
		return false;
	spec->filters = list;
	return !filter_spec_init(&list[spec->n_filters++], NULL);
}

/* Of the filter above. */
static bool read_option(struct pin_state *state, const char *line)
{
	struct lab_spec *spec = &state->spec;
	const struct opt *opt;
	char name[32];
	int at = 0;

	if (!spec->n_filters || sscanf(line, "option %31s %n", name, &at) != 1 || !at)
		return false;
	opt = opts_find(filter_opts, name);
	return opt && !opt_set(opt, &spec->filters[spec->n_filters - 1], line + at, NULL);
}

static bool read_line(struct pin_state *state, const char *line)
{
	if (!strncmp(line, "node ", 5))
		return state->spec.n_nodes < LAB_NODES_MAX && read_node(state, line);
	if (!strncmp(line, "link ", 5))
		return state->spec.n_links < LAB_LINKS_MAX && read_link(state, line);
	if (!strcmp(line, "filter"))
		return read_filter(state);
	if (!strncmp(line, "option ", 7))
		return read_option(state, line);
	return false;
}

static bool parse(FILE *file, struct pin_state *state)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	bool ok = false, first = true;

	while ((len = getline(&line, &room, file)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		ok = first ? !strcmp(line, head) : read_line(state, line);
		first = false;
		if (!ok)
			break;
	}
	free(line);
	return ok && state->spec.n_nodes;
}

int pin_state_read(int fd, const char *path, struct pin_state *ret, struct err *err)
{
	struct pin_state state = {0};
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
	bool ok;

	state.spec.nodes = calloc(LAB_NODES_MAX, sizeof(*state.spec.nodes));
	state.spec.links = calloc(LAB_LINKS_MAX, sizeof(*state.spec.links));
	state.inodes = calloc(LAB_NODES_MAX, sizeof(*state.inodes));
	ok = file && state.spec.nodes && state.spec.links && state.inodes;
	if (ok)
		ok = parse(file, &state);
	if (file)
		fclose(file);
	else if (copy >= 0)
		close(copy);
	if (!ok) {
		pin_state_release(&state);
		return err_set(err, EINVAL, "'%s' is damaged, or of another version of netbench",
			       path);
	}
	*ret = state;
	return 0;
}
