//! The forms of a result.

use clap::ValueEnum;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading
    Table,
    /// One object; stable, SI units
    Json,
    /// With a header line; SI units
    Csv,
}
