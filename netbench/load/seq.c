/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tracking of sequence numbers of one stream. */
#include "load/seq.h"

#include <string.h>

static uint64_t *word_of(struct seq *seq, uint64_t number)
{
	return &seq->seen[number % SEQ_WINDOW / 64];
}

static void forget(struct seq *seq, uint64_t first, uint64_t end)
{
	if (end - first >= SEQ_WINDOW) {
		memset(seq->seen, 0, sizeof(seq->seen));
		return;
	}
	for (; first < end; first++)
		*word_of(seq, first) &= ~(UINT64_C(1) << (first % 64));
}

enum seq_verdict seq_add(struct seq *seq, uint64_t number)
{
	const uint64_t bit = UINT64_C(1) << (number % 64);

	if (number >= seq->next) {
		forget(seq, seq->next, number + 1);
		seq->next = number + 1;
		*word_of(seq, number) |= bit;
		seq->unique++;
		return SEQ_NEW;
	}
	if (seq->next - number > SEQ_WINDOW) {
		seq->ancient++;
		return SEQ_ANCIENT;
	}
	if (*word_of(seq, number) & bit) {
		seq->duplicates++;
		return SEQ_DUPLICATE;
	}
	*word_of(seq, number) |= bit;
	seq->unique++;
	seq->reordered++;
	return SEQ_REORDERED;
}
