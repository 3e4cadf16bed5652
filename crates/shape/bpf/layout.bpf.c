// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
//
// What passes between the program that shapes ACKs and its owner, each once: of this the build makes the types of
// src/layout.rs. There is no program in it, and nothing of it is loaded.
#include "tcp_types.h"
#include "layout.h"

struct setup setup;
enum adapting adapting;
struct manner manner;
struct deadline deadline;
struct frame frame;
struct arrival arrival;
struct counts counts;
enum mode mode;
