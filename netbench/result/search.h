/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search found, as parts of a case; the adders are in result/result.h. */
#ifndef RESULT_SEARCH_H
#define RESULT_SEARCH_H

struct curve;
struct search_result;

/* Free what the struct holds, half-built or whole, not the struct. */
void search_result_release(struct search_result *search);
void curve_release(struct curve *curve);

#endif
