/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Features of the kernel, found out by trying them where nothing stays. */
#ifndef CMD_TRYOUT_H
#define CMD_TRYOUT_H

struct err;

/*
 * Run a trial in a child with namespaces of its own, for a limited time. 0: it works; else -errno with
 * what the trial said, or with what became of it.
 */
int tryout(int (*trial)(const char *words, struct err *err), const char *words, struct err *err);

/* Trials. words are those of try_filter: "STAGE,key=value,…", the filter to be put in place. */
int try_enter(const char *words, struct err *err);
int try_user(const char *words, struct err *err);
int try_veth(const char *words, struct err *err);
int try_queues(const char *words, struct err *err);
int try_wireguard(const char *words, struct err *err);
int try_tun(const char *words, struct err *err);
int try_live_frames(const char *words, struct err *err);
int try_filter(const char *words, struct err *err);

#endif
