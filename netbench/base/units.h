/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scaling for people: the only place where 2020000000 becomes "2.02 Gbit/s". */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Write value scaled with three significant digits and the unit. Units known: bit/s, packet/s
 * (as "Mpps"), byte, byte/s, ns (as ns, µs, ms, s), 1/s, s/GB, ratio (as %), and "" for a count.
 * NaN is written as "–".
 */
void unit_format(double value, const char *unit, char *buf, size_t len);

/*
 * A value and its error in one scale, as fine as the larger of the two deserves; the error has no
 * unit: "421 ns" and "6", "4.12 ns" and "0.20". An error that would round to 0 keeps one digit.
 * Both buffers have the length len.
 */
void unit_format_error(double value, double error, const char *unit, char *ret_value,
		       char *ret_error, size_t len);

#endif
