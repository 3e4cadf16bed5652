//! Points in time and spans of it: whole nanoseconds, which the compiler tells apart from each other and from every other
//! number. Not for: clocks, and dates.
//!
//! A difference of two points is a span, a point and a span are a point; two points have no sum, and a number is a
//! span only where its unit is said: `Span::ms(200)`. Sums and differences overflow as those of `u64` do, which a
//! build with overflow checks notices; what saturates says so. Both are as large as a `u64` and cost what it costs.
//!
//! ```compile_fail,E0308
//! # use truckee_time::Time;
//! let sum = Time::ms(1) + Time::ms(2);
//! ```
//! ```compile_fail,E0308
//! # use truckee_time::{Span, Time};
//! let due = Time::ms(1) <= Span::ms(2); // a point is not a span
//! ```
//! ```compile_fail,E0308
//! # use truckee_time::Span;
//! let rto: Span = 200; // of what?
//! ```

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};
use std::time::Duration;

/// A point in time: nanoseconds since the start, of the run or of whatever the context says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Time(u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Span(u64);

/// Orders a type around one number by that number. By hand, since what is derived goes by way of an
/// [`Ordering`](std::cmp::Ordering), which costs instructions.
#[macro_export]
macro_rules! ordered {
    ($Type:ident) => {
        impl PartialOrd for $Type {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<::core::cmp::Ordering> {
                Some(self.cmp(other))
            }
            #[inline(always)]
            fn lt(&self, other: &Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn le(&self, other: &Self) -> bool {
                self.0 <= other.0
            }
            #[inline(always)]
            fn gt(&self, other: &Self) -> bool {
                self.0 > other.0
            }
            #[inline(always)]
            fn ge(&self, other: &Self) -> bool {
                self.0 >= other.0
            }
        }

        impl Ord for $Type {
            #[inline(always)]
            fn cmp(&self, other: &Self) -> ::core::cmp::Ordering {
                self.0.cmp(&other.0)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }
        }
    };
}

/// What both have: ways in, each with its unit, and out.
macro_rules! nanoseconds {
    ($Type:ident) => {
        impl $Type {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);
            /// The most there is: 584 years, which also stand for "never".
            pub const MAX: Self = Self(u64::MAX);

            /// So many nanoseconds.
            #[inline(always)]
            pub const fn ns(n: u64) -> Self {
                Self(n)
            }

            /// So many microseconds.
            #[inline(always)]
            pub const fn us(n: u64) -> Self {
                Self(n * 1_000)
            }

            /// So many milliseconds.
            #[inline(always)]
            pub const fn ms(n: u64) -> Self {
                Self(n * 1_000_000)
            }

            /// So many seconds.
            #[inline(always)]
            pub const fn s(n: u64) -> Self {
                Self(n * 1_000_000_000)
            }

            /// What is left of `ns` without its fraction; nothing where it is negative or no number.
            #[inline(always)]
            pub const fn truncated(ns: f64) -> Self {
                Self(ns as u64)
            }

            /// Nanoseconds.
            #[inline(always)]
            pub const fn nanos(self) -> u64 {
                self.0
            }

            /// Nanoseconds, to reckon with: exact below 2⁵³, 104 days.
            #[inline(always)]
            pub const fn as_f64(self) -> f64 {
                self.0 as f64
            }

            /// Seconds.
            #[inline(always)]
            pub const fn seconds(self) -> f64 {
                self.0 as f64 / 1e9
            }

            /// How many whole ticks of that length fit in; a tick has a length.
            #[inline(always)]
            pub const fn ticks(self, tick: Span) -> u64 {
                self.0 / tick.0
            }

            /// The same, or the next whole number of ticks of that length; a tick has a length.
            #[inline(always)]
            pub const fn up_to_tick(self, tick: Span) -> Self {
                Self(self.0.div_ceil(tick.0) * tick.0)
            }
        }

        impl Add<Span> for $Type {
            type Output = Self;
            #[inline(always)]
            fn add(self, span: Span) -> Self {
                Self(self.0 + span.0)
            }
        }

        impl Sub<Span> for $Type {
            type Output = Self;
            #[inline(always)]
            fn sub(self, span: Span) -> Self {
                Self(self.0 - span.0)
            }
        }

        impl AddAssign<Span> for $Type {
            #[inline(always)]
            fn add_assign(&mut self, span: Span) {
                self.0 += span.0;
            }
        }

        impl SubAssign<Span> for $Type {
            #[inline(always)]
            fn sub_assign(&mut self, span: Span) {
                self.0 -= span.0;
            }
        }

        $crate::ordered!($Type);

        /// Nanoseconds as a number, as what is written of settings has them.
        impl fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

nanoseconds!(Time);
nanoseconds!(Span);

impl Time {
    /// So long after the start.
    #[inline(always)]
    pub const fn at(since_start: Span) -> Self {
        Self(since_start.0)
    }

    /// How long after the start.
    #[inline(always)]
    pub const fn since_start(self) -> Span {
        Span(self.0)
    }

    /// The point `span` later, [`Time::MAX`] if that lies beyond it.
    #[inline(always)]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The point `span` earlier, the start if that lies before it.
    #[inline(always)]
    pub const fn earlier(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// The span since `earlier`, none if that is later.
    #[inline(always)]
    pub const fn saturating_sub(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The span since `earlier`, unless that is later.
    #[inline(always)]
    pub const fn checked_sub(self, earlier: Self) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(n) => Some(Span(n)),
            None => None,
        }
    }

    /// The span between the two, whichever is the earlier.
    #[inline(always)]
    pub const fn abs_diff(self, other: Self) -> Span {
        Span(self.0.abs_diff(other.0))
    }
}

impl Sub for Time {
    type Output = Span;
    #[inline(always)]
    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Span {
    /// Whether it is no time at all.
    #[inline(always)]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, [`Span::MAX`] if it is beyond that.
    #[inline(always)]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, none if `other` is longer.
    #[inline(always)]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many times as long, [`Span::MAX`] if that is beyond it.
    #[inline(always)]
    pub const fn saturating_mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }

    /// By how much they differ.
    #[inline(always)]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    #[inline(always)]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

impl Mul<Span> for u64 {
    type Output = Span;
    #[inline(always)]
    fn mul(self, span: Span) -> Span {
        span * self
    }
}

impl Div<u64> for Span {
    type Output = Self;
    #[inline(always)]
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}

/// How many times as long; the whole number is [`Span::ticks`].
impl Div for Span {
    type Output = f64;
    #[inline(always)]
    fn div(self, other: Self) -> f64 {
        self.as_f64() / other.as_f64()
    }
}

/// What is left beyond whole spans of that length.
impl Rem for Span {
    type Output = Self;
    #[inline(always)]
    fn rem(self, other: Self) -> Self {
        Self(self.0 % other.0)
    }
}

/// As the standard library has it, for those who sleep.
impl From<Span> for Duration {
    #[inline]
    fn from(span: Span) -> Self {
        Duration::from_nanos(span.0)
    }
}

/// [`Span::MAX`] where it is longer than that.
impl From<Duration> for Span {
    #[inline]
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_spans_reckon_as_their_kinds_do() {
        let (early, late) = (Time::ms(200), Time::s(1));
        assert_eq!(late - early, Span::ms(800));
        assert_eq!(early + Span::us(300) - Span::us(300), early);
        assert_eq!(Time::at(3 * Span::ms(5)), Time::ZERO + Span::ms(5) * 3);
        assert_eq!(late.since_start(), Span::s(1));
        assert_eq!((early.saturating_sub(late), early.checked_sub(late)), (Span::ZERO, None));
        assert_eq!(early.abs_diff(late), late.abs_diff(early));
        assert_eq!(Time::MAX.saturating_add(Span::ns(1)), Time::MAX);
        assert_eq!(early.earlier(Span::s(1)), Time::ZERO);
    }

    #[test]
    fn whole_and_broken_ratios_have_names_of_their_own() {
        assert_eq!(Span::ms(5) / Span::ms(2), 2.5);
        assert_eq!((Span::ms(5).ticks(Span::ms(2)), Span::ms(5) % Span::ms(2)), (2, Span::ms(1)));
        assert_eq!(Time::ms(5).up_to_tick(Span::ms(2)), Time::ms(6));
        assert_eq!(Time::ms(6).up_to_tick(Span::ms(2)), Time::ms(6));
        assert_eq!((Span::truncated(2.9), Span::truncated(-1.0)), (Span::ns(2), Span::ZERO));
        assert_eq!(Span::ms(1500).seconds(), 1.5);
        assert_eq!(Duration::from(Span::us(7)), Duration::from_micros(7));
        assert_eq!(
            (Span::from(Duration::from_millis(7)), Span::from(Duration::MAX)),
            (Span::ms(7), Span::MAX)
        );
    }

    #[test]
    fn they_are_no_larger_than_a_number_and_look_like_one() {
        assert_eq!((size_of::<Time>(), size_of::<Option<Span>>()), (8, size_of::<Option<u64>>()));
        assert_eq!(format!("{:?}", (Time::us(1), Some(Span::ns(5)))), "(1000, Some(5))");
    }
}
