// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A user's own BPF object, for the tests: compiled by them. -DTWO adds a second XDP program, -DBAD
 * one that the verifier refuses. Needs no header.
 */
#define SEC(name) __attribute__((section(name), used))

struct xdp_md {
	unsigned int data, data_end;
};

struct __sk_buff {
	unsigned int len;
};

/* It asks to be pinned by its name (LIBBPF_PIN_BY_NAME), which must not happen. */
struct {
	int (*type)[2];
	int (*max_entries)[1];
	unsigned int *key;
	long *value;
	int (*pinning)[1];
} own_pinned SEC(".maps");

static void *(*map_lookup)(const void *map, const void *key) = (void *)1;

/* XDP_DROP for IPv4, XDP_PASS for the rest. */
SEC("xdp")
int own_drop(struct xdp_md *ctx)
{
	const unsigned short *frame = (void *)(long)ctx->data;
	unsigned int key = 0;
	long *count = map_lookup(&own_pinned, &key);

	if (count)
		++*count;
	if ((void *)(frame + 7) > (void *)(long)ctx->data_end)
		return 2;
	return frame[6] == 0x0008 ? 1 : 2;
}

/* TC_ACT_SHOT. */
SEC("tc")
int own_shot(struct __sk_buff *skb)
{
	(void)skb;
	return 2;
}

#ifdef TWO
SEC("xdp")
int own_pass(struct xdp_md *ctx)
{
	(void)ctx;
	return 2;
}
#endif

#ifdef BAD
SEC("xdp")
int own_bad(struct xdp_md *ctx)
{
	return *(unsigned char *)(long)ctx->data;
}
#endif

char _license[] SEC("license") = "GPL";
