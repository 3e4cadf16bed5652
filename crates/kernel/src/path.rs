//! The path emulator.
