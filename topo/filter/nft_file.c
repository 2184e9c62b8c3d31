/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the stage nft-file: the user's own ruleset, tried aside first and then loaded into the node. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nftables/libnftables.h>

#include "topo/aside.h"
#include "topo/feature.h"
#include "topo/filter/filter.h"
#include "topo/filter/map.h"
#include "topo/filter/nft_error.h"
#include "topo/nl.h"

enum { FILE_BYTES_MAX = 16 << 20, TRIAL_DEVICES = 10 };

static const uint64_t load_ns = UINT64_C(60000000000), trial_ns = UINT64_C(20000000000);

struct job {
	const struct filter_spec *spec;
	struct nft_ctx *ctx;
};

static int check_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err_sys(err, errno, "cannot read ruleset '%s'", path);
		r = -EINVAL;
	} else if (S_ISDIR(st.st_mode)) {
		r = err_set(err, EINVAL, "ruleset '%s' is a folder", path);
	} else if (!S_ISREG(st.st_mode)) {
		r = err_set(err, EINVAL, "ruleset '%s' is no regular file", path);
	} else if (st.st_size > FILE_BYTES_MAX) {
		r = err_set(err, EINVAL, "ruleset '%s' is larger than %d MiB", path,
			    FILE_BYTES_MAX >> 20);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

/* Where the next "name=value" begins after a comma; values have commas of their own: {22,80}. */
static const char *next_define(const char *text)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-./";
	const char *comma = strchr(text, ',');

	while (comma && (!strspn(comma + 1, name) || comma[1 + strspn(comma + 1, name)] != '='))
		comma = strchr(comma + 1, ',');
	return comma;
}

static int define(struct nft_ctx *ctx, const char *text, struct err *err)
{
	const char *comma;
	char *one;
	int r = 0;

	for (; text && !r; text = comma ? comma + 1 : NULL) {
		comma = next_define(text);
		one = strndup(text, comma ? (size_t)(comma - text) : strlen(text));
		if (!one)
			return err_sys(err, ENOMEM, "cannot define variables");
		if (!strchr(one, '=') || one[0] == '=' || nft_ctx_add_var(ctx, one))
			r = err_set(err, EINVAL, "define '%s' must read 'name=value'", one);
		free(one);
	}
	return r;
}

/* Its socket is born in the calling thread's namespace. */
static int open_ctx(const struct filter_spec *spec, struct nft_ctx **ret, struct err *err)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	int r = 0;

	if (!ctx)
		return err_set(err, ENOMEM, "cannot start libnftables");
	if (nft_ctx_buffer_output(ctx) || nft_ctx_buffer_error(ctx))
		r = err_set(err, ENOMEM, "cannot start libnftables");
	nft_ctx_clear_include_paths(ctx);
	if (!r && nft_ctx_add_include_path(ctx, "."))
		r = err_set(err, ENOMEM, "cannot start libnftables");
	for (size_t i = 0; !r && i < spec->define.n; i++)
		r = define(ctx, spec->define.list[i], err);
	if (r)
		nft_ctx_free(ctx);
	else
		*ret = ctx;
	return r;
}

/* Aside: the working directory is the whole process's. */
static int run(const void *arg, struct err *err)
{
	const struct job *job = arg;
	const char *file = job->spec->file;
	char folder[PATH_MAX], name[PATH_MAX], path[PATH_MAX + 2];

	if (strlen(file) >= PATH_MAX)
		return err_sys(err, ENAMETOOLONG, "cannot read ruleset '%.40s…'", file);
	snprintf(folder, sizeof(folder), "%s", file);
	snprintf(name, sizeof(name), "%s", file);
	if (chdir(dirname(folder)))
		return err_sys(err, errno, "cannot enter the folder of ruleset '%s'", file);
	snprintf(path, sizeof(path), "./%s", basename(name));
	if (!nft_run_cmd_from_filename(job->ctx, path))
		return 0;
	return nft_error(file, nft_ctx_get_error_buffer(job->ctx), err);
}

/* The kernel names the other end. Failures do not matter: a name that is taken is there. */
static void put_device(struct nl_batch *batch, const char *name)
{
	struct nlmsghdr *nlh =
		nl_put(batch, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, "make", "device");
	struct nlattr *info;

	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, "veth");
	mnl_attr_nest_end(nlh, info);
}

/* Words that may be names of devices: on lines that define something or speak of devices. */
static void put_words(struct nl_batch *batch, const char *path)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-.";
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, len;

	while (file && getline(&line, &room, file) > 0) {
		if (!strstr(line, "device") && !strstr(line, "define"))
			continue;
		for (char *at = line; *at; at += len + (at[len] != '\0')) {
			len = strspn(at, name);
			if (len && len < IF_NAME_MAX) {
				char word[IF_NAME_MAX] = {0};

				memcpy(word, at, len);
				put_device(batch, word);
			}
		}
	}
	free(line);
	if (file)
		fclose(file);
}

/* Kernels before 6.16 refuse a hook on a device that is not there. */
static int make_devices(const struct filter_spec *spec, struct err *err)
{
	struct filter_rename *pairs = NULL;
	struct nl_batch batch;
	char name[IF_NAME_MAX];
	struct nl nl;
	size_t n = 0;
	int r = nl_open(&nl, "trial", err);

	if (r)
		return r;
	r = filter_map(spec, &pairs, &n, err);
	if (!r)
		r = nl_batch_init(&batch, err);
	if (!r) {
		nl_begin(&batch, &nl);
		for (size_t i = 0; i < n; i++)
			put_device(&batch, pairs[i].to);
		for (int i = 0; i < TRIAL_DEVICES; i++) {
			snprintf(name, sizeof(name), "eth%d", i);
			put_device(&batch, name);
		}
		put_words(&batch, spec->file);
		nl_commit(&batch, NULL);
		nl_batch_release(&batch);
	}
	free(pairs);
	nl_close(&nl);
	return r;
}

/* In a namespace to be thrown away. */
static int try_file(const void *arg, struct err *err)
{
	struct job job = {.spec = arg};
	int r = feature_enter(err);

	if (r)
		return -EPERM;
	r = feature_nft(err);
	if (!r)
		r = make_devices(job.spec, err);
	if (!r)
		r = open_ctx(job.spec, &job.ctx, err);
	return r ? r : run(&job, err);
}

static int check(const void *cfg, struct err *err)
{
	const struct filter_spec *spec = cfg;
	struct filter_rename *pairs;
	struct err why = {""};
	size_t n;
	int r;

	if (!spec->file)
		return err_set(err, EINVAL, "needs a 'file' with your ruleset");
	if (spec->on || spec->conntrack != FILTER_CT_NONE || spec->flowtable)
		return err_set(err, EINVAL,
			       "interfaces, connection tracking and flowtables are up to the "
			       "ruleset");
	r = filter_map(spec, &pairs, &n, err);
	if (r)
		return r;
	free(pairs);
	r = check_file(spec->file, err);
	if (r)
		return r;
	r = aside_run(try_file, spec, trial_ns, &why);
	/* Without the privilege to try, building the lab will say so. */
	if (r == -EPERM)
		return 0;
	if (r == -ETIMEDOUT || r == -ECHILD)
		return err_set(err, EINVAL, "ruleset '%s': %s", spec->file, why.text);
	if (r && err)
		*err = why;
	return r;
}

/* A table with "flags owner" goes with the socket it came through: the state keeps that open. */
static int attach(const struct filter_site *site, void **ret_state, struct err *err)
{
	struct job job = {.spec = site->spec};
	int r = check_file(site->spec->file, err);

	if (!r)
		r = open_ctx(site->spec, &job.ctx, err);
	if (r)
		return r;
	r = aside_run(run, &job, load_ns, err);
	if (r)
		nft_ctx_free(job.ctx);
	else
		*ret_state = job.ctx;
	return r;
}

static void detach(void *state)
{
	nft_ctx_free(state);
}

/* Which of the user's rules count, and what they do, is not ours to know. */
static int read_nothing(void *state, struct filter_counters *ret, struct err *err)
{
	(void)state;
	(void)err;
	*ret = (struct filter_counters){.exact = false};
	return 0;
}

const struct filter filter_nft_file = {
	.kind = {.name = "nft-file",
		 .help = "nftables, your own ruleset",
		 .opts = filter_opts,
		 .cfg_size = sizeof(struct filter_spec),
		 .check = check},
	.lasting = true,
	.attach = attach,
	.read = read_nothing,
	.detach = detach,
};
