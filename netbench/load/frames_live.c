/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the live engines: generator programs, and the one long system call in which they run. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/generator.h"
#include "bpf/sink.h"
#include "load/frames.h"
#include "topo/lab.h"

/* The skeleton needs the structs above. */
#include "bpf/frames.skel.h"

#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1u << 1)
#endif

/* BPF_TCX_INGRESS, which older headers lack (Linux 6.6). */
#define TCX_INGRESS ((enum bpf_attach_type)46)

/* Its index in every namespace. */
#define LOOPBACK 1

/* Frames per turn of the kernel's loop: what fits one run of the receiving NAPI. */
#define BATCH_AT_FULL_RATE 32
/* A paced frame leaves at the end of its turn, so turns are short. */
#define BATCH_PACED 8
/* Runs of the program in one call; the loop around it makes more calls if that is not enough. */
#define REPEAT (1u << 30)
/* The signal that ends the call comes a little after the last departure, and again until it is heard. */
#define LINGER_NS 200000
#define AGAIN_NS  50000000
struct frames_live {
	struct frames_bpf *skel;
	struct hist *late;
	int turn;	/* link of the tc program, or -1 */
	int in_ifindex; /* that frames seem to come from; 0: none */
	uint32_t batch;
	uint64_t
		last_ns; /* after the start: when `count` frames are due to have left; 0: not known */
};

static int run(const struct frames_live *live, const struct frames_look *look, uint32_t repeat)
{
	struct xdp_md ctx = {.data_end = look->longest, .ingress_ifindex = (__u32)live->in_ifindex};
	struct bpf_test_run_opts opts = {.sz = sizeof(opts),
					 .data_in = look->frame,
					 .data_size_in = look->longest,
					 .ctx_in = &ctx,
					 .ctx_size_in = sizeof(ctx),
					 .repeat = (int)repeat,
					 .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
					 .batch_size = live->batch};

	return bpf_prog_test_run_opts(bpf_program__fd(live->skel->progs.frames_out), &opts) ? -errno
											    : 0;
}

int frames_live_probe(struct err *err)
{
	static const struct bpf_insn drop[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_EXIT},
	};
	unsigned char frame[FRAME_SIZE_MIN] = {0};
	struct bpf_test_run_opts opts = {.sz = sizeof(opts),
					 .data_in = frame,
					 .data_size_in = sizeof(frame),
					 .repeat = 1,
					 .flags = BPF_F_TEST_XDP_LIVE_FRAMES};
	int fd, r = 0;

	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "netbench_probe", "GPL", drop, 2, NULL);
	if (fd < 0)
		return errno == EPERM ? -EPERM
				      : err_sys(err, EOPNOTSUPP,
						"this kernel does not load XDP programs (%s)",
						strerror(errno));
	if (bpf_prog_test_run_opts(fd, &opts))
		r = errno == EPERM ? -EPERM
				   : err_set(err, EOPNOTSUPP,
					     "this kernel has no live frames for XDP programs "
					     "(Linux 5.18)");
	close(fd);
	return r;
}

static void configure(const struct load_run *run, const struct frames_state *state, size_t i,
		      struct generator_config *config)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_pace pace;

	frames_pace(cfg, &state->look, i, state->n_lives, &pace);
	config->shape = state->look.shape;
	config->flows = state->look.flows[i];
	memcpy(config->sizes, state->look.sizes, sizeof(config->sizes));
	config->n_sizes = state->look.n_sizes;
	config->seed = state->look.seed;
	config->longest = state->look.longest;
	config->action = state->engine == FRAMES_XDP ? XDP_REDIRECT : XDP_PASS;
	config->ifindex = (__u32)state->path.out_ifindex;
	config->stream = (__u16)i;
	config->count = pace.count;
	config->interval = pace.interval;
	config->first = pace.first;
	config->burst = (__u32)cfg->burst;
	config->plain = config->shape.untouched && config->shape.payload == FRAMES_PLAIN_PAYLOAD &&
			!config->shape.v6 && !config->shape.tcp && !config->shape.many_flows &&
			config->n_sizes == 1 && !config->interval && !config->count &&
			config->action == XDP_REDIRECT;
}

/*
 * Passed up in `from`, live frames seem to come from its loopback device. There a tc program turns those
 * with our addresses towards the first link; nothing else on that device has any. The namespace takes
 * the classic hook away, a link goes with its descriptor.
 */
static int attach_turn(struct frames_live *live, struct err *err)
{
	struct bpf_tc_hook hook = {
		.sz = sizeof(hook), .ifindex = LOOPBACK, .attach_point = BPF_TC_INGRESS};
	struct bpf_tc_opts opts = {.sz = sizeof(opts), .handle = 1, .priority = 1};
	int fd = bpf_program__fd(live->skel->progs.frames_turn), r;

	live->turn = bpf_link_create(fd, LOOPBACK, TCX_INGRESS, NULL);
	if (live->turn >= 0)
		return 0;
	r = bpf_tc_hook_create(&hook);
	if (r && r != -EEXIST)
		return err_sys(err, r, "cannot make a tc hook");
	opts.prog_fd = fd;
	r = bpf_tc_attach(&hook, &opts);
	return r ? err_sys(err, r, "cannot attach to a tc hook") : 0;
}

static int open_turn(struct load_run *run, struct frames_live *live, struct err *err)
{
	struct err lost;
	int r = lab_enter(run->lab, run->from, err);

	if (r)
		return r;
	r = attach_turn(live, err);
	if (lab_leave(run->lab, &lost) && !r) {
		*err = lost;
		r = -EPERM;
	}
	return r;
}

static int open_live(struct load_run *run, struct frames_state *state, size_t i, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_live *live = &state->lives[i];
	struct generator_config *config;
	int r;

	live->skel = frames_bpf__open();
	if (!live->skel)
		return err_sys(err, errno, "cannot open the generator program");
	config = (struct generator_config *)&live->skel->rodata->config;
	configure(run, state, i, config);
	live->in_ifindex = state->engine == FRAMES_INJECT ? state->path.next_ifindex : 0;
	live->batch = (uint32_t)cfg->batch;
	if (!live->batch)
		live->batch = config->interval ? BATCH_PACED : BATCH_AT_FULL_RATE;
	if (config->count && config->interval)
		live->last_ns =
			(config->first + config->count / config->burst * config->interval) >>
			FRAMES_DUE_SHIFT;
	bpf_program__set_autoload(live->skel->progs.frames_turn, state->engine == FRAMES_TC && !i);
	r = frames_bpf__load(live->skel);
	if (r)
		return err_sys(err, r, "cannot load the generator program");
	if (state->engine == FRAMES_TC && !i)
		r = open_turn(run, live, err);
	if (r)
		return r;
	live->skel->bss->state.due = config->first;
	live->late = mmap(NULL, sizeof(*live->late), PROT_READ, MAP_SHARED,
			  bpf_map__fd(live->skel->maps.late), 0);
	if (live->late == MAP_FAILED) {
		live->late = NULL;
		return err_sys(err, errno, "cannot map the departures of the generator");
	}
	return 0;
}

int frames_live_open(struct load_run *run, struct err *err)
{
	struct frames_state *state = run->state;
	int r = 0;

	state->lives = calloc(run->threads, sizeof(*state->lives));
	if (!state->lives)
		return err_sys(err, ENOMEM, "cannot allocate %zu generators", run->threads);
	state->n_lives = run->threads;
	for (size_t i = 0; i < state->n_lives; i++)
		state->lives[i].turn = -1;
	for (size_t i = 0; !r && i < state->n_lives; i++)
		r = open_live(run, state, i, err);
	return r;
}

void frames_live_close(struct frames_state *state)
{
	for (size_t i = 0; i < state->n_lives; i++) {
		if (state->lives[i].late)
			munmap(state->lives[i].late, sizeof(*state->lives[i].late));
		if (state->lives[i].turn >= 0)
			close(state->lives[i].turn);
		frames_bpf__destroy(state->lives[i].skel);
	}
	free(state->lives);
	state->lives = NULL;
	state->n_lives = 0;
}

/* Cycles of this task in user and kernel mode; -1 where there is no such counter. */
static int open_cycles(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .disabled = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void wake(int signal)
{
	(void)signal; /* its work is done when the system call returns */
}

/* A signal at when_ns, and every AGAIN_NS from then on. */
static int set_alarm(timer_t *ret, uint64_t when_ns, struct err *err)
{
	const struct sigaction action = {.sa_handler = wake};
	const struct itimerspec spec = {
		.it_value = {(time_t)(when_ns / 1000000000u), (long)(when_ns % 1000000000u)},
		.it_interval = {0, AGAIN_NS},
	};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	if (sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, ret))
		return err_sys(err, errno, "cannot make a timer");
	if (timer_settime(*ret, TIMER_ABSTIME, &spec, NULL))
		return err_sys(err, errno, "cannot set a timer");
	return 0;
}

static uint64_t end_of_call(const struct lane *lane, const struct frames_live *live)
{
	const struct trial_clock *clock = lane->run->clock;
	const uint64_t last = frames_start(lane) + live->last_ns;

	return (live->last_ns && last < clock->end_ns ? last : clock->end_ns) + LINGER_NS;
}

static int generate(struct lane *lane, const struct frames_live *live, struct err *err)
{
	const struct frames_state *state = lane->run->state;
	const struct trial_clock *clock = lane->run->clock;
	struct generator_state *s = &live->skel->bss->state;
	const uint64_t count = live->skel->rodata->config.count;
	const bool paced = live->skel->rodata->config.interval;
	int r = 0;

	s->begin_ns = clock->begin_ns;
	s->end_ns = clock->end_ns;
	__atomic_store_n(&s->start_ns, frames_start(lane), __ATOMIC_RELEASE);
	/* The call takes its time to begin, so it does before the start; but not where its turns count. */
	if (count && !paced)
		lane_sleep_until(s->start_ns);
	while ((!r || r == -EINTR) && now_ns() < clock->end_ns && !lane_stopped(lane) &&
	       !(count && __atomic_load_n(&s->sent, __ATOMIC_RELAXED) >= count)) {
		const uint64_t left = count ? count - s->sent : REPEAT;

		r = run(live, &state->look, !paced && left < REPEAT ? (uint32_t)left : REPEAT);
	}
	return r && r != -EINTR ? err_sys(err, r, "cannot send live frames") : 0;
}

static void keep_figures(const struct lane *lane, const struct frames_live *live)
{
	struct frames_lane *shared = (struct frames_lane *)lane->shared;
	const struct trial_clock *clock = lane->run->clock;
	const struct generator_state *s = &live->skel->bss->state;

	shared->sent = s->sent;
	shared->measured = s->mark ? s->sent - s->early : 0;
	shared->unsent = s->unsent;
	if (s->sent && s->first_ns > clock->begin_ns)
		shared->late_ns = s->first_ns - clock->begin_ns;
	hist_merge(&shared->late, live->late);
	lane_publish(&shared->shared.packets, s->sent);
}

int frames_live_send(struct lane *lane, struct err *err)
{
	const struct frames_state *state = lane->run->state;
	const struct frames_live *live = &state->lives[lane->index];
	struct frames_lane *shared = (struct frames_lane *)lane->shared;
	int cycles, r;
	timer_t timer;

	memset(&shared->late, 0, sizeof(shared->late));
	cycles = open_cycles();
	/* Before the start the program lets nothing out: this touches all that the window will. */
	r = run(live, &state->look, 2 * live->batch);
	if (r)
		return err_sys(err, r, "cannot run live frames");
	r = lane_go(lane);
	if (!r)
		r = set_alarm(&timer, end_of_call(lane, live), err);
	if (r)
		return r;
	if (cycles >= 0)
		ioctl(cycles, PERF_EVENT_IOC_ENABLE, 0);
	r = generate(lane, live, err);
	if (cycles >= 0) {
		ioctl(cycles, PERF_EVENT_IOC_DISABLE, 0);
		if (read(cycles, &shared->cycles, sizeof(shared->cycles)) != sizeof(shared->cycles))
			shared->cycles = 0;
		close(cycles);
	}
	timer_delete(timer);
	if (!r)
		frames_drain(lane);
	keep_figures(lane, live);
	return r;
}
