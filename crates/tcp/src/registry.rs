//! Members of the families that come from elsewhere: an algorithm of a user's own, beside those that are built in.
//!
//! A [`Registry`] is handed to whoever builds members by name; a scenario then names a foreign one as any other. Foreign code
//! is not trusted: what it does wrong (a window that is not a number, a pace below zero, a panic) becomes a [`Fault`] that
//! names the member and unwinds, for the run to end with. Built-in members pay nothing for it.

use crate::ack::{AckSink, AnyAckPolicy, Honesty, Manner};
use crate::controller::Interest;
use crate::detect::Phase;
use crate::outstanding::Sent;
use crate::recovery::{Advance, Reported};
use crate::sender::Transfer;
use crate::spec::{Args, Info, SpecError};
use crate::start::{Burst, Opening};
use crate::{Ack, Air, Arrival, Cause, Departure, Loss, Report, SackBlocks, Seq, Span, Time, Truth, Window};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A family, which is the trait of its members.
pub trait Family: 'static {
    /// In words: "growth rule".
    const FAMILY: &'static str;
    /// What is built in.
    const BUILT_IN: &'static [Info];
}

/// Builds a member from its arguments.
type Make<T> = Box<dyn Fn(&mut Args<'_>) -> Result<Box<T>, SpecError> + Send + Sync>;

#[derive(Clone)]
struct Entry {
    family: &'static str,
    info: Info,
    /// A [`Make`] of the family's trait.
    make: Arc<dyn Any + Send + Sync>,
}

/// A name that the family has already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is a {family} named \"{name}\" already, expected a name of its own")]
pub struct Taken {
    /// The family.
    pub family: &'static str,
    /// The name.
    pub name: &'static str,
}

/// Foreign members, by family and name.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|e| (e.family, e.info.name))).finish()
    }
}

impl Registry {
    /// Without any.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds a member of the family `T`, a trait object such as `dyn Growth`.
    pub fn add<T: Family + ?Sized>(
        &mut self,
        info: Info,
        make: impl Fn(&mut Args<'_>) -> Result<Box<T>, SpecError> + Send + Sync + 'static,
    ) -> Result<(), Taken> {
        if T::BUILT_IN.iter().chain(self.of(T::FAMILY)).any(|known| known.name == info.name) {
            return Err(Taken { family: T::FAMILY, name: info.name });
        }
        let make: Make<T> = Box::new(make);
        self.entries.push(Entry { family: T::FAMILY, info, make: Arc::new(make) });
        Ok(())
    }

    /// The foreign members of a family.
    pub fn of(&self, family: &str) -> impl Iterator<Item = &Info> {
        self.entries.iter().filter(move |e| e.family == family).map(|e| &e.info)
    }

    /// Builds the foreign member of that name, if there is one.
    pub(crate) fn build<T: Family + ?Sized>(
        &self,
        args: &mut Args<'_>,
        name: &str,
    ) -> Option<Result<Custom<T>, SpecError>> {
        let entry = self.entries.iter().find(|e| e.family == T::FAMILY && e.info.name == name)?;
        let make = entry.make.downcast_ref::<Make<T>>()?;
        Some(make(args).map(|member| Custom(Box::new(Named { name: entry.info.name, member }))))
    }
}

/// What a foreign member did wrong. It is what the call unwinds with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its name.
    pub member: &'static str,
    /// What it did.
    pub what: String,
}

/// A foreign member, under supervision.
pub struct Custom<T: ?Sized>(Box<Named<T>>);

struct Named<T: ?Sized> {
    name: &'static str,
    member: Box<T>,
}

impl<T: ?Sized> Clone for Custom<T>
where
    Box<T>: Clone,
{
    fn clone(&self) -> Self {
        Self(Box::new(Named { name: self.0.name, member: self.0.member.clone() }))
    }
}

impl<T: ?Sized> std::fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Custom({})", self.0.name)
    }
}

impl<T: ?Sized> Custom<T> {
    fn fail(&self, what: String) -> ! {
        resume_unwind(Box::new(Fault { member: self.0.name, what }))
    }

    fn said(&self, method: &str, panic: Box<dyn Any + Send>) -> ! {
        if panic.is::<Fault>() {
            resume_unwind(panic); // of a member within this one
        }
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why");
        self.fail(format!("{method} panicked: {text}"))
    }

    /// Has the member do something.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask<R>(&self, method: &str, f: impl FnOnce(&T) -> R) -> R {
        catch_unwind(AssertUnwindSafe(|| f(&self.0.member))).unwrap_or_else(|panic| self.said(method, panic))
    }

    /// Has the member do something that changes it.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell<R>(&mut self, method: &str, f: impl FnOnce(&mut T) -> R) -> R {
        let member = &mut *self.0.member;
        catch_unwind(AssertUnwindSafe(|| f(member))).unwrap_or_else(|panic| self.said(method, panic))
    }

    /// Refuses a timer that is asked for again at the time that it has just been told of: time would never go on.
    pub(crate) fn must_wait(&self, now: Time, deadline: Option<Time>) {
        if let Some(deadline) = deadline.filter(|&deadline| deadline <= now) {
            let when = "when that time had come and on_timer had been told";
            self.fail(format!("deadline answered {} ns {when}, expected a later time", deadline.nanos()));
        }
    }

    /// Refuses what cannot be gone on with, of what the member has left or answered.
    #[cold]
    #[inline(never)]
    pub(crate) fn check(&self, method: &str, left: &impl Sound) {
        if let Some(fault) = left.fault() {
            self.fail(format!("{method} {fault}"));
        }
    }
}

/// What can be checked after a foreign member has had it in hand, or has answered with it.
pub(crate) trait Sound {
    fn fault(&self) -> Option<String> {
        None
    }
}

impl<T: Sound + ?Sized> Sound for &T {
    fn fault(&self) -> Option<String> {
        (**self).fault()
    }
}

impl<T: Sound + ?Sized> Sound for &mut T {
    fn fault(&self) -> Option<String> {
        (**self).fault()
    }
}

impl<T: Sound> Sound for Option<T> {
    fn fault(&self) -> Option<String> {
        self.as_ref().and_then(Sound::fault)
    }
}

impl Sound for Window {
    fn fault(&self) -> Option<String> {
        if !(self.cwnd.is_finite() && self.cwnd >= 1.0) {
            return Some(format!("left a cwnd of {} bytes, expected one segment at least", self.cwnd));
        }
        let sound = self.ssthresh >= 0.0; // not a number is not
        (!sound).then(|| format!("left an ssthresh of {} bytes, expected 0 at least", self.ssthresh))
    }
}

impl Sound for Transfer {
    fn fault(&self) -> Option<String> {
        self.window.fault()
    }
}

impl Sound for f64 {
    fn fault(&self) -> Option<String> {
        let sound = self.is_finite() && *self >= 0.0;
        (!sound).then(|| format!("answered {self}, expected a number from 0 on"))
    }
}

impl Sound for Burst {
    fn fault(&self) -> Option<String> {
        self.rate.fault()
    }
}

/// Whatever it says can be gone on with.
macro_rules! sound {
    ($($type:ty),+ $(,)?) => { $(impl Sound for $type {})+ };
}

sound! {
    (), bool, u32, u64, usize, Ack, AckSink, Advance, Air, AnyAckPolicy, Arrival, Cause, Departure, Honesty, Interest, Loss, Manner,
    Opening, Phase, Report<'_>, Reported, SackBlocks, Sent, Seq, Span, Time, Truth,
}
