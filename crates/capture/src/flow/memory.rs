//! What the books of a direction take, of which all connections together have a bound.

/// Bytes of so many `T`.
pub(super) fn room<T>(capacity: usize) -> usize {
    capacity * size_of::<T>()
}
