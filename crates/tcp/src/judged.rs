//! Loss events judged, and how many of them right.

use crate::Cause;

/// Loss events by true cause, and how many of them were judged right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judged {
    /// Loss events whose segment a queue dropped.
    pub congestion: u64,
    /// Loss events whose segment noise or an outage destroyed.
    pub wireless: u64,
    /// Loss events whose segment was not dropped when it was last sent.
    pub spurious: u64,
    /// Of `congestion`, those judged so.
    pub congestion_right: u64,
    /// Of `wireless`, those judged so.
    pub wireless_right: u64,
}

impl Judged {
    /// A loss event of this fate was judged so.
    pub fn count(&mut self, fate: Option<Cause>, verdict: Cause) {
        match fate {
            None => self.spurious += 1,
            Some(Cause::Congestion) => {
                self.congestion += 1;
                self.congestion_right += u64::from(verdict == Cause::Congestion);
            }
            Some(Cause::Wireless) => {
                self.wireless += 1;
                self.wireless_right += u64::from(verdict == Cause::Wireless);
            }
        }
    }
}

impl std::ops::AddAssign for Judged {
    fn add_assign(&mut self, other: Self) {
        self.congestion += other.congestion;
        self.wireless += other.wireless;
        self.spurious += other.spurious;
        self.congestion_right += other.congestion_right;
        self.wireless_right += other.wireless_right;
    }
}

impl std::ops::SubAssign for Judged {
    fn sub_assign(&mut self, past: Self) {
        self.congestion -= past.congestion;
        self.wireless -= past.wireless;
        self.spurious -= past.spurious;
        self.congestion_right -= past.congestion_right;
        self.wireless_right -= past.wireless_right;
    }
}
