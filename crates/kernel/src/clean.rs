//! Removing what a crashed run left behind.
