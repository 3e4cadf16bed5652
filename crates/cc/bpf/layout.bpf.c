// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
//
// What passes between a congestion control and its owner, each once: of this the build makes the types of src/layout.rs.
// There is no program in it, and nothing of it is loaded.
#define TRUCKEE_NATIVE // structures alone, without maps
#include "tcp_types.h"
typedef __u64 fl;
#include "params.h"
#include "event.h"
#include "told.h"

enum growth growth;
enum response response;
enum predictor predictor;
enum estimator estimator;
struct params params;
enum kind kind;
enum flag flag;
struct event event;
struct ends ends;
struct losses losses;
