/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns named labs: their mounts in /run/netns and what is done to make and remove them. */
#include "topo/pin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "topo/node.h"
#include "topo/pin_state.h"
#include "topo/plan.h"

#define STATE_DIR "/run/netbench"
#define NETNS_DIR "/run/netns"
/* Says that NETNS_DIR is ours to remove. The dot keeps it apart from labs. */
#define MADE_NETNS_DIR STATE_DIR "/.made-netns"

enum { PATH_ROOM = 128, TRIES = 16 };

static void state_path(char path[PATH_ROOM], const char *lab)
{
	snprintf(path, PATH_ROOM, STATE_DIR "/%s", lab);
}

static void node_path(char path[PATH_ROOM], const char *lab, const char *node)
{
	snprintf(path, PATH_ROOM, NETNS_DIR "/%s.%s", lab, node);
}

static int check_name(const char *name, struct err *err)
{
	if (plan_name_ok(name, NODE_NAME_MAX))
		return 0;
	return err_set(err, EINVAL,
		       "'%.64s' is no name for a lab: up to %d letters, digits, '-', '_', '.'",
		       name, NODE_NAME_MAX - 1);
}

static int is_up(const char *name, struct err *err)
{
	return err_set(err, EEXIST, "lab '%s' is up already", name);
}

int lab_pin_check(const char *name, struct err *err)
{
	char path[PATH_ROOM];
	int rc = check_name(name, err);

	if (rc)
		return rc;
	state_path(path, name);
	return access(path, F_OK) ? 0 : is_up(name, err);
}

/* Is the node's namespace, and no other, mounted there? */
static bool mounted(const char *path, uint64_t inode)
{
	struct statfs fs;
	struct stat st;

	return !statfs(path, &fs) && fs.f_type == NSFS_MAGIC && !stat(path, &st) &&
	       st.st_ino == inode;
}

static int remove_node(const char *lab, const char *node, uint64_t inode, struct err *err)
{
	char path[PATH_ROOM];
	struct statfs fs;
	struct stat st;

	node_path(path, lab, node);
	while (mounted(path, inode))
		if (umount2(path, MNT_DETACH))
			return err_sys(err, errno, "cannot unmount '%s'", path);
	/* Another namespace, or a file with content, is not our work. */
	if (lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_size ||
	    (!statfs(path, &fs) && fs.f_type == NSFS_MAGIC))
		return 0;
	if (unlink(path) && errno != ENOENT)
		return err_sys(err, errno, "cannot remove '%s'", path);
	return 0;
}

static int remove_nodes(const char *lab, const struct pin_state *state, size_t n, struct err *err)
{
	int rc = 0;

	while (n-- && !rc)
		rc = remove_node(lab, state->spec.nodes[n].name, state->inodes[n], err);
	return rc;
}

/* Removing directories that are not empty fails, which is as it should be. */
static void remove_dirs(void)
{
	struct stat st;

	if (!stat(MADE_NETNS_DIR, &st) && !rmdir(NETNS_DIR))
		unlink(MADE_NETNS_DIR);
	rmdir(STATE_DIR);
}

static int make_dirs(struct err *err)
{
	int fd;

	if (mkdir(STATE_DIR, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make '" STATE_DIR "'");
	if (mkdir(NETNS_DIR, 0755)) {
		if (errno != EEXIST)
			return err_sys(err, errno, "cannot make '" NETNS_DIR "'");
		return 0;
	}
	fd = open(MADE_NETNS_DIR, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int add_node(const struct lab *lab, const char *name, size_t i, struct err *err)
{
	char path[PATH_ROOM], source[PATH_ROOM];
	int fd, rc;

	node_path(path, name, lab->spec.nodes[i].name);
	snprintf(source, sizeof(source), "/proc/thread-self/fd/%d", lab->nodes[i].netns);
	fd = open(path, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0444);
	if (fd < 0)
		return err_sys(err, errno, "cannot make '%s'", path);
	close(fd);
	if (!mount(source, path, NULL, MS_BIND, NULL))
		return 0;
	rc = err_sys(err, errno, "cannot mount node '%s' at '%s'", lab->spec.nodes[i].name, path);
	unlink(path);
	return rc;
}

/*
 * The state appears under its name complete and locked, or not at all; -EEXIST tells that another
 * lab has the name. -ENOENT: somebody's `down` removed the directory meanwhile.
 */
static int publish_state(const char *name, const struct pin_state *state, int *ret_fd,
			 struct err *err)
{
	char path[PATH_ROOM], source[PATH_ROOM];
	int fd = open(STATE_DIR, O_TMPFILE | O_RDWR | O_CLOEXEC, 0644), rc;

	if (fd < 0)
		return err_sys(err, errno, "cannot write in '" STATE_DIR "'");
	rc = pin_state_write(fd, state, err);
	if (!rc && flock(fd, LOCK_EX))
		rc = err_sys(err, errno, "cannot lock the state of lab '%s'", name);
	state_path(path, name);
	snprintf(source, sizeof(source), "/proc/thread-self/fd/%d", fd);
	if (!rc && linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		rc = errno == EEXIST ? is_up(name, err)
				     : err_sys(err, errno, "cannot make '%s'", path);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static int publish(const char *name, const struct pin_state *state, int *ret_fd, struct err *err)
{
	int rc = -ENOENT, tries;

	for (tries = 0; rc == -ENOENT && tries < TRIES; tries++) {
		rc = make_dirs(err);
		if (!rc)
			rc = publish_state(name, state, ret_fd, err);
	}
	return rc;
}

static int refuse_existing(const struct lab *lab, const char *name, struct err *err)
{
	char path[PATH_ROOM];
	struct stat st;
	size_t i;

	for (i = 0; i < lab->spec.n_nodes; i++) {
		node_path(path, name, lab->spec.nodes[i].name);
		if (!lstat(path, &st))
			return err_set(err, EEXIST, "'%s' exists already", path);
	}
	return 0;
}

int lab_pin(const struct lab *lab, const char *name, struct err *err)
{
	struct pin_state state = {0};
	char path[PATH_ROOM];
	size_t made = 0;
	int fd = -1, rc;

	rc = lab_pin_check(name, err);
	if (!rc)
		rc = refuse_existing(lab, name, err);
	if (rc)
		return rc;
	rc = pin_state_of(lab, &state, err);
	if (rc)
		return rc;
	rc = publish(name, &state, &fd, err);
	if (rc)
		goto dirs;
	while (!rc && made < lab->spec.n_nodes) {
		rc = add_node(lab, name, made, err);
		if (!rc)
			made++;
	}
	if (!rc)
		goto out;
	state_path(path, name);
	if (!remove_nodes(name, &state, made, NULL))
		unlink(path);
dirs:
	remove_dirs();
out:
	if (fd >= 0)
		close(fd);
	pin_state_release(&state);
	return rc;
}

/*
 * An open, parsed state; or *ret_fd is -1. -ENOENT comes without an error text: there is no such
 * lab.
 */
static int open_state(const char *name, int lock, int *ret_fd, struct pin_state *ret,
		      struct err *err)
{
	char path[PATH_ROOM];
	struct stat st;
	int fd, rc = 0;

	*ret_fd = -1;
	state_path(path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : err_sys(err, errno, "cannot open '%s'", path);
	if (flock(fd, lock) || fstat(fd, &st)) {
		rc = -EIO;
		err_sys(err, errno, "cannot lock '%s'", path);
	} else if (!st.st_nlink)
		rc = -ENOENT;
	else
		rc = pin_state_read(fd, path, ret, err);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

int lab_unpin(const char *name, bool *ret_removed, struct err *err)
{
	struct pin_state state = {0};
	char path[PATH_ROOM];
	int rc = check_name(name, err), fd;

	if (rc)
		return rc;
	rc = open_state(name, LOCK_EX, &fd, &state, err);
	if (ret_removed)
		*ret_removed = false;
	if (fd < 0)
		return rc == -ENOENT ? 0 : rc;
	rc = remove_nodes(name, &state, state.spec.n_nodes, err);
	state_path(path, name);
	if (!rc && unlink(path))
		rc = err_sys(err, errno, "cannot remove '%s'", path);
	close(fd);
	pin_state_release(&state);
	if (rc)
		return rc;
	remove_dirs();
	if (ret_removed)
		*ret_removed = true;
	return 0;
}

static bool whole(const char *name, const struct pin_state *state)
{
	char path[PATH_ROOM];
	size_t i;

	for (i = 0; i < state->spec.n_nodes; i++) {
		node_path(path, name, state->spec.nodes[i].name);
		if (!mounted(path, state->inodes[i]))
			return false;
	}
	return true;
}

static int list_one(const char *name, struct pinned_lab *ret, struct err *err)
{
	struct pin_state state = {0};
	int fd, rc = open_state(name, LOCK_SH, &fd, &state, err);

	if (fd < 0)
		return rc;
	memcpy(ret->name, name, strlen(name) + 1); /* fits: only_names saw to it */
	ret->whole = whole(name, &state);
	ret->spec = state.spec;
	state.spec = (struct lab_spec){0};
	close(fd);
	pin_state_release(&state);
	return 0;
}

static int only_names(const struct dirent *entry)
{
	return plan_name_ok(entry->d_name, NODE_NAME_MAX);
}

int lab_pinned_list(struct pinned_lab **ret_labs, size_t *ret_n, struct err *err)
{
	struct dirent **entries = NULL;
	struct pinned_lab *labs;
	int n = scandir(STATE_DIR, &entries, only_names, alphasort), i, rc = 0;
	size_t n_labs = 0;

	if (n < 0 && errno != ENOENT)
		return err_sys(err, errno, "cannot read '" STATE_DIR "'");
	labs = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*labs));
	if (!labs) {
		rc = -ENOMEM;
		err_sys(err, ENOMEM, "cannot list labs");
	}
	for (i = 0; i < n; i++) {
		if (labs && !rc) {
			rc = list_one(entries[i]->d_name, &labs[n_labs], err);
			n_labs += !rc;
			/* Gone since the directory was read. */
			if (rc == -ENOENT)
				rc = 0;
		}
		free(entries[i]);
	}
	free(entries);
	if (rc) {
		lab_pinned_free(labs, n_labs);
		return rc;
	}
	*ret_labs = labs;
	*ret_n = n_labs;
	return 0;
}

void lab_pinned_free(struct pinned_lab *labs, size_t n)
{
	while (labs && n--)
		lab_spec_release(&labs[n].spec);
	free(labs);
}

static int no_such_lab(const char *name, struct err *err)
{
	struct pinned_lab *labs = NULL;
	const char **names = NULL, *near = NULL;
	size_t n = 0, i;

	if (!lab_pinned_list(&labs, &n, NULL))
		names = calloc(n + 1, sizeof(*names));
	for (i = 0; names && i < n; i++)
		names[i] = labs[i].name;
	if (names)
		near = name_nearest(names, n, name);
	if (near)
		err_set(err, ENOENT, "no lab '%.64s' is up; did you mean '%s'", name, near);
	else
		err_set(err, ENOENT, "no lab '%.64s' is up", name);
	free(names);
	lab_pinned_free(labs, n);
	return -ENOENT;
}

static int enter_node(const char *name, size_t i, const struct pin_state *state, struct err *err)
{
	const char *node = state->spec.nodes[i].name;
	char path[PATH_ROOM], what[PATH_ROOM];
	struct stat st;
	int fd, rc;

	node_path(path, name, node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	snprintf(what, sizeof(what), "node '%s' of lab '%s'", node, name);
	if (fstat(fd, &st) || st.st_ino != state->inodes[i])
		rc = err_set(err, ESTALE, "'%s' is not node '%s' of lab '%s' any more", path, node,
			     name);
	else
		rc = netns_enter(fd, what, err);
	close(fd);
	return rc;
}

int lab_pinned_enter(const char *name, const char *node, struct err *err)
{
	struct pin_state state = {0};
	struct lab_plan *plan = NULL;
	int rc = check_name(name, err), fd = -1;

	if (rc)
		return rc;
	rc = open_state(name, LOCK_SH, &fd, &state, err);
	if (fd < 0)
		return rc == -ENOENT ? no_such_lab(name, err) : rc;
	rc = lab_plan_make(&state.spec, &plan, err);
	if (!rc)
		rc = lab_plan_node(plan, node, err);
	if (rc >= 0)
		rc = enter_node(name, (size_t)rc, &state, err);
	else
		err_prefix(err, "lab '%s'", name);
	lab_plan_free(plan);
	close(fd);
	pin_state_release(&state);
	return rc;
}
