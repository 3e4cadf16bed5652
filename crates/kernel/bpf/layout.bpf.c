// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
//
// What passes between the program that watches senders and its owner, each once: of this the build makes the types of
// src/run/layout.rs. There is no program in it, and nothing of it is loaded.
#include "tcp_types.h"
#include "record.h"

enum kind kind;
struct record record;
