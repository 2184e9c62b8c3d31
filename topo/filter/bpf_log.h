/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libbpf has to say, kept for error texts instead of printed. */
#ifndef TOPO_FILTER_BPF_LOG_H
#define TOPO_FILTER_BPF_LOG_H

struct bpf_log {
	char text[256]; /* the first warning: one line without libbpf's prefix; "": none */
};

/* Libbpf is silent from here on, and what it says in this thread goes to log until bpf_log_end(). */
void bpf_log_begin(struct bpf_log *log);
void bpf_log_end(void);

#endif
