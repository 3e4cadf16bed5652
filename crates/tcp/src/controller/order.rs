//! What a controller may be told from outside the run.

/// What a controller is told from outside. Which of them it heeds is its own affair, and nearly all heed nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// The congestion window, bytes; less than a segment is taken for one. `None`: as much as the receiver takes.
    pub window: Option<f64>,
    /// Bytes per second, headers included, at which to pace; `None`: as fast as the window allows.
    pub pace: Option<f64>,
}
