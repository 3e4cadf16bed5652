//! The settings of a TCP stack, as the kernel takes them.
