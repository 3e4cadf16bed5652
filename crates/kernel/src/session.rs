//! What a live run owns.
