//! A foreign member at work, under supervision: what it does wrong becomes a [`Fault`] that names it and unwinds, for the run
//! to end with. What is wrong of a window or an answer, that says itself ([`Sound`]).

use crate::Time;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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
    pub(crate) fn new(name: &'static str, member: Box<T>) -> Self {
        Self(Box::new(Named { name, member }))
    }

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
    pub(crate) fn ask<'a, R>(&'a self, method: &str, f: impl FnOnce(&'a T) -> R) -> R {
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
