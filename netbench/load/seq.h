/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sequence numbers of one stream: what is new, twice, or out of order. */
#ifndef LOAD_SEQ_H
#define LOAD_SEQ_H

#include <stdint.h>

/* Packets later than this many numbers behind the newest cannot be told from duplicates. */
enum { SEQ_WINDOW = 1 << 16 };

enum seq_verdict { SEQ_NEW, SEQ_REORDERED, SEQ_DUPLICATE, SEQ_ANCIENT };

struct seq {
	uint64_t next; /* one above the highest number seen */
	/* Packets new to us (reordered ones included), the reordered among them, the rest. */
	uint64_t unique, reordered, duplicates, ancient;
	uint64_t seen[SEQ_WINDOW / 64]; /* ring of bits for next - SEQ_WINDOW … next - 1 */
};

/* Zeroed memory is a stream that expects number 0. A gap is a loss until the packet turns up. */
enum seq_verdict seq_add(struct seq *seq, uint64_t number);

#endif
