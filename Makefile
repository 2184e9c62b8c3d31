# SPDX-License-Identifier: GPL-3.0-or-later
PKGS    := libmnl yaml-0.1 jansson smartcols zlib
BUILD   ?= build
CC      ?= gcc
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Werror
CPPFLAGS_ALL := -D_GNU_SOURCE -Inetbench -I. -I$(BUILD) $(shell pkg-config --cflags $(PKGS))
CFLAGS_ALL := -std=gnu17 $(WARN) $(CFLAGS)
LDLIBS  := $(shell pkg-config --libs $(PKGS)) -lm

TOPO_SRC := $(wildcard topo/*.c topo/*/*.c)
NB_SRC   := $(wildcard netbench/*.c netbench/*/*.c)
TOPO_OBJ := $(TOPO_SRC:%.c=$(BUILD)/%.o)
NB_OBJ   := $(NB_SRC:%.c=$(BUILD)/%.o)

all: $(BUILD)/netbench/netbench

$(BUILD)/netbench/netbench: $(NB_OBJ) $(BUILD)/libtopo.a
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/libtopo.a: $(TOPO_OBJ)
	$(AR) rcs $@ $^
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
-include $(TOPO_OBJ:.o=.d) $(NB_OBJ:.o=.d)
.PHONY: all
