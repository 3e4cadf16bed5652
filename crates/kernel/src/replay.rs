//! A BPF program held against its definition.
