//! Congestion controls in the running kernel.
