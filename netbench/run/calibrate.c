/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the ceilings of frame generators: measured once a run, and held against each case. */
#include "run/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "load/load.h"
#include "result/result.h"
#include "run/stand.h"
#include "run/trial.h"
#include "suite/plan.h"

#define WINDOW_NS UINT64_C(400000000)
#define WARMUP_NS UINT64_C(100000000)
/* RFC 2544 and RFC 9411 leave it open; a fifth of headroom is what test labs ask for. */
#define LIMIT 0.8

struct ceiling {
	const struct load *load;
	char *key;  /* its options */
	double pps; /* NaN: not known */
	char why[256];
};

/* How much is sent, between whom: not what the generator could do. */
static bool is_amount(const char *name)
{
	static const char *const names[] = {"rate", "count", "from", "to", "sink"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* NULL when out of memory. */
static char *key_of(const struct load_spec *spec)
{
	return opts_text(spec->load->kind.opts, spec->cfg, is_amount);
}

static struct ceiling *find(const struct calibration *calibration, const struct load *load,
			    const char *key)
{
	for (size_t i = 0; i < calibration->n; i++)
		if (calibration->ceilings[i].load == load &&
		    !strcmp(calibration->ceilings[i].key, key))
			return &calibration->ceilings[i];
	return NULL;
}

/* The nodes of the load joined by one link that carries what all links of the arm do. */
static int bare_lab(const struct arm *arm, struct lab_spec *ret, struct err *err)
{
	const struct traffic_cfg *cfg = arm->main.cfg;
	struct link_spec *link;
	int r;

	ret->name = strdup("bare");
	ret->nodes = calloc(2, sizeof(*ret->nodes));
	ret->links = link = calloc(1, sizeof(*ret->links));
	if (!ret->name || !ret->nodes || !link)
		return -ENOMEM;
	ret->n_nodes = 2;
	ret->n_links = 1;
	for (size_t i = 0; i < 2; i++) {
		r = opts_default(node_opts, &ret->nodes[i], err);
		ret->nodes[i].name = strdup(i ? cfg->to : cfg->from);
		if (r || !ret->nodes[i].name)
			return r ? r : -ENOMEM;
	}
	r = opts_default(link_opts, link, err);
	if (r)
		return r;
	for (size_t i = 0; i < arm->lab.n_links; i++)
		if (arm->lab.links[i].mtu > link->mtu)
			link->mtu = arm->lab.links[i].mtu;
	return asprintf(&link->ends, "%s,%s", cfg->from, cfg->to) < 0 ? -ENOMEM : 0;
}

static int set_option(const struct load_spec *spec, const char *name, const char *value,
		      struct err *err)
{
	const struct opt *opt = opts_find(spec->load->kind.opts, name);

	return opt ? opt_set(opt, spec->cfg, value, err) : 0;
}

/* One trial in the bare lab; its figures go to a case that nobody sees. */
static int fire(const struct arm *bare, const struct trial_watch *watch, double *ret_pps,
		struct err *err)
{
	struct result *scratch = result_new();
	struct result_case *c = scratch ? result_add_case(scratch, "ceiling") : NULL;
	const struct metric *sent;
	int r = -ENOMEM;

	if (c)
		r = trial_run(bare, 0, watch, &c, err);
	sent = r ? NULL : case_metric(c, "sent");
	if (!r && (!sent || !sent->n))
		r = err_set(err, EINVAL, "the load does not say what it sent");
	if (!r && c->status == CASE_VOID)
		r = err_set(err, EINVAL, "%s", c->reason ? c->reason : "void");
	if (!r)
		*ret_pps = sent->samples[0];
	result_free(scratch);
	return r;
}

static int measure(const struct arm *arm, const struct trial_watch *watch, double *ret_pps,
		   struct err *err)
{
	const struct trial_watch silent = {.interrupt_fd = watch->interrupt_fd};
	struct arm bare = {
		.name = arm->name,
		.lab_name = arm->lab_name,
		.baseline = NO_BASELINE,
		.timing = {.duration_ns = WINDOW_NS, .warmup_ns = WARMUP_NS, .repeat = 1}};
	int r = load_spec_copy(&bare.main, &arm->main);

	if (!r)
		r = bare_lab(arm, &bare.lab, err);
	if (!r)
		r = set_option(&bare.main, "rate", "max", err);
	if (!r)
		r = set_option(&bare.main, "count", "0", err);
	if (!r)
		r = set_option(&bare.main, "sink", "auto", err);
	if (!r)
		r = fire(&bare, &silent, ret_pps, err);
	load_spec_release(&bare.main);
	lab_spec_release(&bare.lab);
	return r == -ENOMEM ? err_sys(err, ENOMEM, "cannot measure the generator alone") : r;
}

/* Only what is sent as fast as it goes, or searched for, may be limited by the generator. */
static bool has_limit(const struct arm *arm)
{
	const struct opt *opt = opts_find(arm->main.load->kind.opts, "rate");
	char value[64];

	if (!arm->main.load->to_test_port)
		return false;
	if (!opt || arm->search)
		return true;
	opt_text(opt, arm->main.cfg, value, sizeof(value));
	return !strcmp(value, "max");
}

/* Takes the key. */
static struct ceiling *add(struct calibration *calibration, const struct load *load, char *key)
{
	struct ceiling *grown =
		reallocarray(calibration->ceilings, calibration->n + 1, sizeof(*grown));

	if (!grown) {
		free(key);
		return NULL;
	}
	calibration->ceilings = grown;
	grown += calibration->n++;
	*grown = (struct ceiling){.load = load, .key = key, .pps = NAN};
	return grown;
}

int calibrate(struct calibration *calibration, const struct arm *arm,
	      const struct trial_watch *watch, struct err *err)
{
	struct ceiling *ceiling;
	struct err why;
	char *key;
	int r;

	if (!has_limit(arm))
		return 0;
	key = key_of(&arm->main);
	if (key && find(calibration, arm->main.load, key)) {
		free(key);
		return 0;
	}
	ceiling = key ? add(calibration, arm->main.load, key) : NULL;
	if (!ceiling)
		return err_sys(err, ENOMEM, "cannot measure the generator alone");
	r = measure(arm, watch, &ceiling->pps, &why);
	if (r)
		snprintf(ceiling->why, sizeof(ceiling->why), "%s", why.text);
	if (r != -ECANCELED && r != -ENOMEM)
		return 0;
	*err = why;
	return r;
}

static double median(const struct result_case *c, const char *name)
{
	const struct metric *metric = case_metric(c, name);
	struct stats stats = {.median = NAN};

	if (metric)
		stats_of(metric->samples, metric->n, 0, &stats);
	return stats.median;
}

int calibrate_judge(const struct calibration *calibration, const struct arm *arm,
		    struct result_case *c)
{
	const struct ceiling *ceiling;
	char most[32], *key;
	double sent;

	if (!has_limit(arm))
		return 0;
	key = key_of(&arm->main);
	if (!key)
		return -ENOMEM;
	ceiling = find(calibration, arm->main.load, key);
	free(key);
	sent = median(c, "sent");
	if (!ceiling || isnan(sent))
		return 0;
	if (isnan(ceiling->pps))
		return findings_add(&c->proofs, true, "generator alone", "not known: %s",
				    ceiling->why);
	unit_format(ceiling->pps, "packet/s", most, sizeof(most));
	c->generator_limited = sent > LIMIT * ceiling->pps;
	return findings_add(&c->proofs, true, "generator alone",
			    "%s with nothing under test; %.0f %% of that was sent", most,
			    100 * sent / ceiling->pps);
}

void calibration_release(struct calibration *calibration)
{
	for (size_t i = 0; i < calibration->n; i++)
		free(calibration->ceilings[i].key);
	free(calibration->ceilings);
	*calibration = (struct calibration){0};
}
