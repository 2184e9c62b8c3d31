/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What libnftables says about a ruleset, as one line. */
#ifndef TOPO_FILTER_NFT_ERROR_H
#define TOPO_FILTER_NFT_ERROR_H

#include "base/err.h"

/*
 * text is libnftables' report after it read "./NAME" in the folder of file, the path the user wrote.
 * The first error comes out as "FILE:LINE:COL: message", with the right path for included files.
 * Returns -EOPNOTSUPP for what the kernel lacks, else -EINVAL.
 */
int nft_error(const char *file, const char *text, struct err *err);

#endif
