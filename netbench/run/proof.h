/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proofs: evidence that a trial measured what it claims to. Offloads as the kernel reads them back,
 * the largest frame seen, and the counters of every link the traffic must have crossed.
 */
#ifndef RUN_PROOF_H
#define RUN_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/route.h"
#include "run/tap.h"

struct crew;
struct lab;
struct ledger_snap;
struct load_run;
struct result_case;

enum { TAPS_MAX = 2 };

/* Taps on the last device before each receiver of the main load. */
struct taps {
	struct tap list[TAPS_MAX];
	uint64_t mtu[TAPS_MAX];
	size_t n;
};

/* Features read back on both ends of every link on the way; a wrong one voids the case. */
int proof_offloads(struct lab *lab, const struct route *route, struct result_case *c,
		   struct err *err);

int taps_open(struct lab *lab, const struct load_run *main, struct taps *ret, struct err *err);
void taps_close(struct taps *taps);
/* Look at the frames until until_ns, as crew_watch. */
int taps_watch(struct taps *taps, struct crew *crew, uint64_t until_ns, struct err *err);
/* A frame larger than MTU + header where offloads are off voids the case; where they are on it is remarked. */
int proof_frames(const struct taps *taps, const struct lab *lab, const struct route *route,
		 struct result_case *c);

/* Every link on the way carried at least what the receivers got; else the case is void. */
int proof_crossed(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		  const struct ledger_snap *after, struct load_run *runs, size_t n_runs,
		  struct result_case *c);

/* What each filter on the way counted. One that test frames were to hit and did not voids the case. */
int proof_filters(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		  const struct ledger_snap *after, const struct load_run *runs, size_t n_runs,
		  struct result_case *c);

#endif
