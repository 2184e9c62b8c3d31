/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ceiling of the frames load: a program that only redirects, into one that only drops. Prints the
 * frames per second that the receiving link counted.
 *
 *   ceiling SECONDS CPU
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/now.h"
#include "tests/bench/ceiling.skel.h"
#include "topo/lab.h"

enum { FRAME_BYTES = 60, BATCH = 64 };

static int fail(const struct err *err)
{
	fprintf(stderr, "ceiling: %s\n", err->text);
	return 1;
}

static void wake(int signal)
{
	(void)signal;
}

/* One call that ends by a signal; returns the frames that the receiver got in a second. */
static int run(struct lab *lab, int program, double seconds, double *ret_pps, struct err *err)
{
	const struct sigaction action = {.sa_handler = wake};
	const struct itimerval timer = {
		.it_value = {(time_t)seconds, (suseconds_t)((seconds - (time_t)seconds) * 1e6)}};
	unsigned char frame[FRAME_BYTES] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1 << 30, .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	struct link_counters before, after;
	uint64_t start;
	int r;

	sigaction(SIGALRM, &action, NULL);
	r = lab_link_counters(lab, 0, 1, &before, err);
	if (r)
		return r;
	start = now_ns();
	setitimer(ITIMER_REAL, &timer, NULL);
	if (bpf_prog_test_run_opts(program, &opts) && errno != EINTR)
		return err_sys(err, errno, "cannot run live frames");
	start = now_ns() - start;
	r = lab_link_counters(lab, 0, 1, &after, err);
	*ret_pps = (double)(after.rx_packets - before.rx_packets) * 1e9 / (double)start;
	return r;
}

static int measure(struct lab *lab, double seconds, double *ret_pps, struct err *err)
{
	const struct wire *wire = lab_plan_wire(lab_plan(lab), 0);
	struct ceiling_bpf *skel = ceiling_bpf__open();
	struct bpf_link *link = NULL;
	int r;

	if (!skel)
		return err_sys(err, errno, "cannot open the programs");
	*(int *)&skel->rodata->ifindex = wire->end[0].ifindex;
	r = ceiling_bpf__load(skel);
	if (r)
		r = err_sys(err, r, "cannot load the programs");
	if (!r)
		r = lab_enter(lab, 1, err);
	if (!r) {
		link = bpf_program__attach_xdp(skel->progs.ceiling_drop, wire->end[1].ifindex);
		if (!link)
			r = err_sys(err, errno, "cannot attach the drop");
	}
	if (!r)
		r = lab_enter(lab, 0, err);
	if (!r)
		r = run(lab, bpf_program__fd(skel->progs.ceiling_out), seconds, ret_pps, err);
	bpf_link__destroy(link);
	ceiling_bpf__destroy(skel);
	return r;
}

int main(int argc, char **argv)
{
	char a[] = "a", b[] = "b", ends[] = "a:eth0,b:eth0";
	struct node_spec nodes[] = {{.name = a}, {.name = b}};
	struct link_spec links[] = {{.ends = ends, .mtu = 1500, .queues = 1}};
	const struct lab_spec spec = {
		.name = a, .nodes = nodes, .n_nodes = 2, .links = links, .n_links = 1};
	struct lab *lab;
	struct err err;
	cpu_set_t set;
	double pps = 0;
	int r;

	if (argc != 3) {
		fputs("usage: ceiling SECONDS CPU\n", stderr);
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[2]), &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("ceiling: cannot pin");
		return 1;
	}
	if (lab_build(&spec, &lab, &err))
		return fail(&err);
	r = measure(lab, atof(argv[1]), &pps, &err);
	lab_free(lab);
	if (r)
		return fail(&err);
	printf("%.0f\n", pps);
	return 0;
}
