/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the fingerprint to the files of a Pi, of a server and of a virtual machine. */
#include "host/fingerprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kconfig.h"
#include "host/procfile.h"

#define DATA "tests/unit/data/host/"

static struct result *result;

static void take(const char *root)
{
	struct err err;

	result = result_new();
	assert_non_null(result);
	if (fingerprint_read(root, &result->host, &result->n_host, &err) < 0)
		fail_msg("%s", err.text);
}

static int teardown(void **state)
{
	(void)state;
	result_free(result);
	result = NULL;
	return 0;
}

static const char *fact(const char *name)
{
	for (size_t i = 0; i < result->n_host; i++)
		if (!strcmp(result->host[i].name, name))
			return result->host[i].value;
	return "(absent)";
}

#define assert_fact(name, value) assert_string_equal(fact(name), value)

static void a_pi(void **state)
{
	(void)state;
	take(DATA "pi4");
	assert_fact("kernel", "6.12.25+rpt-rpi-v8");
	assert_fact("arch", "aarch64");
	assert_fact("preempt", "full");
	assert_fact("hz", "250");
	assert_fact("timer", "idle");
	assert_fact("debug_options", "none");
	assert_fact("boot_options", "isolcpus=3");
	assert_fact("mitigations", "spectre_v1: __user pointer sanitization; "
				   "vulnerable: spec_store_bypass, spectre_v2");
	assert_fact("cpu", "Cortex-A72");
	assert_fact("cpus", "4");
	assert_fact("board", "Raspberry Pi 4 Model B Rev 1.4");
	assert_fact("governor", "ondemand");
	assert_fact("clocksource", "arch_sys_counter");
	assert_fact("memory_bytes", "3977601024");
	assert_fact("temperatures", "cpu-thermal 48.3 °C");
	assert_fact("throttled", "under-voltage, throttled");
	assert_fact("net.ipv4.tcp_rmem", "4096 131072 6291456");
	assert_fact("net.core.default_qdisc", "fq_codel");
	assert_fact("os", "Debian GNU/Linux 12 (bookworm)");
	/* Nobody has told. */
	assert_fact("virtualisation", "(absent)");
	assert_fact("microcode", "(absent)");
	assert_fact("net.core.rmem_max", "(absent)");
	/* Recorded files say nothing about the clock of this machine. */
	assert_fact("cpu_mhz_measured", "(absent)");
}

static void a_server(void **state)
{
	(void)state;
	take(DATA "server");
	/* Built "voluntary", switched at boot. */
	assert_fact("preempt", "full");
	assert_fact("hz", "1000");
	assert_fact("timer", "periodic");
	assert_fact("debug_options", "PROVE_LOCKING KASAN");
	assert_fact("cpu", "Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz");
	assert_fact("cpus", "2");
	assert_fact("microcode", "0x49");
	assert_fact("board", "Dell Inc. PowerEdge R730");
	assert_fact("virtualisation", "none");
	assert_fact("governor", "mixed: performance, powersave");
	assert_fact("temperatures", "coretemp Package id 0 41.0 °C, coretemp temp2 39.0 °C");
	assert_fact("throttled", "(absent)");
	assert_fact("mitigations", "(absent)");
}

static void a_guest(void **state)
{
	(void)state;
	take(DATA "guest");
	assert_fact("virtualisation", "kvm (QEMU Standard PC)");
	assert_fact("preempt", "rt");
	assert_fact("cpu", "AMD EPYC");
	assert_fact("debug_options", "(absent)");
	assert_fact("kernel", "(absent)");
}

static void no_machine_at_all(void **state)
{
	(void)state;
	take(DATA "nowhere");
	assert_fact("cpu", "(absent)");
	assert_fact("preempt", "(absent)");
	assert_fact("cpus", "(absent)");
}

static void the_machine_itself(void **state)
{
	(void)state;
	take(NULL);
	assert_string_not_equal(fact("kernel"), "(absent)");
	assert_true(atoi(fact("cpus")) > 0);
	assert_true(atoi(fact("cpu_mhz_measured")) > 0);
	for (size_t i = 0; i < result->n_host; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(result->host[i].name, result->host[k].name);
}

static void configuration(void **state)
{
	static const char text[] = "# CONFIG_A is not set\nCONFIG_AB=y\nCONFIG_C=m\n"
				   "CONFIG_XCONFIG_D=y\nCONFIG_NAME=\"-v8\"\n";
	char value[16];

	(void)state;
	assert_false(kconfig_on(text, "A"));
	assert_true(kconfig_on(text, "AB"));
	assert_false(kconfig_on(text, "C"));
	assert_false(kconfig_on(text, "D"));
	assert_true(kconfig_value(text, "NAME", value, sizeof(value)));
	assert_string_equal(value, "-v8");
	assert_false(kconfig_value(NULL, "NAME", value, sizeof(value)));
}

static void small_files(void **state)
{
	char text[16];
	int64_t number;

	(void)state;
	assert_int_equal(procfile_text(DATA "pi4", "/proc/sys/kernel/arch", text, sizeof(text)), 7);
	assert_string_equal(text, "aarch64");
	/* Seven characters and a newline leave no room for the end of the string in eight. */
	assert_true(procfile_text(DATA "pi4", "/proc/sys/kernel/arch", text, 8) < 0);
	assert_int_equal(
		procfile_number(DATA "pi4", "/sys/class/thermal/thermal_zone0/temp", 10, &number),
		0);
	assert_int_equal(number, 48312);
	assert_true(procfile_number(DATA "pi4", "/proc/sys/kernel/arch", 10, &number) < 0);
	assert_int_equal(number, 48312);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_pi, teardown),
		cmocka_unit_test_teardown(a_server, teardown),
		cmocka_unit_test_teardown(a_guest, teardown),
		cmocka_unit_test_teardown(no_machine_at_all, teardown),
		cmocka_unit_test_teardown(the_machine_itself, teardown),
		cmocka_unit_test(configuration),
		cmocka_unit_test(small_files),
	};

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
