/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds temperatures and throttling to the files of a Pi and of a server. */
#include "host/thermal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DATA "tests/unit/data/host/"

static void a_pi_has_one_sensor_under_two_names(void **state)
{
	struct thermal thermal;

	(void)state;
	thermal_read(DATA "pi4", &thermal);
	assert_int_equal(thermal.n_sensors, 1);
	assert_string_equal(thermal.sensors[0].name, "cpu-thermal");
	assert_int_equal(thermal.sensors[0].millidegrees, 48312);
	assert_true(thermal.firmware_known && thermal.firmware_bits == 0x50000);
	assert_true(thermal.alarm_known && !thermal.undervoltage);
	assert_false(thermal.counts_known);
}

static void a_server_has_labels_and_counts(void **state)
{
	struct thermal thermal;

	(void)state;
	thermal_read(DATA "server", &thermal);
	assert_int_equal(thermal.n_sensors, 2);
	assert_string_equal(thermal.sensors[0].name, "coretemp Package id 0");
	assert_string_equal(thermal.sensors[1].name, "coretemp temp2");
	assert_int_equal(thermal.sensors[1].millidegrees, 39000);
	assert_true(thermal.counts_known && thermal.throttle_count == 14);
	assert_false(thermal.firmware_known || thermal.alarm_known);
}

static void a_hot_pi(void **state)
{
	struct thermal before, after;
	struct thermal_change change;

	(void)state;
	thermal_read(DATA "pi4", &before);
	thermal_read(DATA "pi4-hot", &after);
	thermal_compare(&before, &after, &change);
	assert_true(change.temperature_known);
	assert_string_equal(change.hottest, "cpu-thermal");
	assert_int_equal(change.hottest_millidegrees, 71050);
	assert_int_equal(change.rise_millidegrees, 71050 - 48312);
	/* Of 0x70000 only bit 17 is new: under-voltage and throttling were long ago. */
	assert_true(change.throttle_known && change.throttled);
	assert_string_equal(change.detail, "frequency capped");
}

static void what_was_long_ago_does_not_count(void **state)
{
	struct thermal thermal;
	struct thermal_change change;

	(void)state;
	thermal_read(DATA "pi4", &thermal);
	thermal_compare(&thermal, &thermal, &change);
	assert_true(change.throttle_known);
	assert_false(change.throttled);
	assert_string_equal(change.detail, "");
	assert_int_equal(change.rise_millidegrees, 0);
}

static void what_holds_now_counts_although_it_is_not_new(void **state)
{
	struct thermal thermal = {.firmware_known = true, .firmware_bits = 0x50005};
	struct thermal_change change;

	(void)state;
	thermal_compare(&thermal, &thermal, &change);
	assert_true(change.throttled);
	assert_string_equal(change.detail, "under-voltage, throttled");
}

static void the_alarm_of_a_kernel_without_the_firmware_file(void **state)
{
	struct thermal before = {.alarm_known = true};
	struct thermal after = {.alarm_known = true, .undervoltage = true};
	struct thermal_change change;

	(void)state;
	thermal_compare(&before, &after, &change);
	assert_true(change.throttle_known && change.throttled);
	assert_string_equal(change.detail, "under-voltage");
}

static void a_throttled_server(void **state)
{
	struct thermal before, after;
	struct thermal_change change;

	(void)state;
	thermal_read(DATA "server", &before);
	thermal_read(DATA "server-hot", &after);
	thermal_compare(&before, &after, &change);
	assert_true(change.throttle_known && change.throttled);
	assert_string_equal(change.detail, "4 thermal throttle events");
	/* Its sensors were not recorded the second time. */
	assert_false(change.temperature_known);
}

static void unknown_stays_unknown(void **state)
{
	struct thermal thermal;
	struct thermal_change change;

	(void)state;
	thermal_read(DATA "guest", &thermal);
	assert_int_equal(thermal.n_sensors, 0);
	thermal_compare(&thermal, &thermal, &change);
	assert_false(change.temperature_known || change.throttle_known || change.throttled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pi_has_one_sensor_under_two_names),
		cmocka_unit_test(a_server_has_labels_and_counts),
		cmocka_unit_test(a_hot_pi),
		cmocka_unit_test(what_was_long_ago_does_not_count),
		cmocka_unit_test(what_holds_now_counts_although_it_is_not_new),
		cmocka_unit_test(the_alarm_of_a_kernel_without_the_firmware_file),
		cmocka_unit_test(a_throttled_server),
		cmocka_unit_test(unknown_stays_unknown),
	};

	return cmocka_run_group_tests_name("thermal", tests, NULL, NULL);
}
