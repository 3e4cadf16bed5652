//! What is said of a server, and who is told on the way.

use super::fault::Fault;
use super::identity::Identity;
use super::judge::Verdict;
use super::observation::{Observation, Test};
use super::route::Route;
use super::summary::Summary;
#[cfg(live)]
use super::target::Target;
use serde::Serialize;
use std::net::SocketAddr;
use truckee_scenario::Lateness;

/// A test that showed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestFault {
    /// Which.
    pub test: Test,
    /// Which time, from 1 on.
    pub repetition: u32,
    /// Why.
    pub fault: Fault,
}

/// What is said of a server in the end.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// How it reacts.
    Verdict(Verdict),
    /// Why that cannot be said.
    NotJudged(Fault),
}

/// Everything about a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The URL as given.
    pub url: String,
    /// The URL tested, after redirects.
    pub tested: String,
    /// Its address; none: it was not found.
    pub address: Option<SocketAddr>,
    /// The status of its answer; none: there was none.
    pub status: Option<u16>,
    /// What asked; none: the prober itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Routers on the way back, by the TTL that was left; none: nothing was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<u8>,
    /// The way there; none: that was not asked, or could not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// Bytes of the answer, as far as it was read.
    pub answer_bytes: u64,
    /// Whether that was all.
    pub answer_whole: bool,
    /// What is said of it.
    #[serde(flatten)]
    pub conclusion: Conclusion,
    /// What each test showed.
    pub tests: Vec<Observation>,
    /// The same, the repetitions of a test together.
    pub summary: Vec<Summary>,
    /// Tests that showed nothing.
    pub faults: Vec<TestFault>,
    /// Which TCP it is; none: that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// How late this machine was, where the path to the server was one of its own; `None`: the server is elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
}

impl Report {
    /// One of a server of which nothing is known yet.
    #[cfg(live)]
    pub(super) fn of(target: &Target) -> Self {
        Self {
            url: target.to_string(),
            tested: target.to_string(),
            address: None,
            status: None,
            program: None,
            hops: None,
            route: None,
            answer_bytes: 0,
            answer_whole: false,
            conclusion: Conclusion::NotJudged(Fault::Unseen),
            tests: Vec::new(),
            summary: Vec::new(),
            faults: Vec::new(),
            identity: None,
            lateness: None,
        }
    }
}

/// Who is told how it goes.
pub trait Watch {
    /// The server has answered an ordinary request; the tests begin.
    fn answered(&mut self, report: &Report);
    /// A test is done.
    fn tested(&mut self, observation: &Observation);
    /// A connection begins that is for a part of which TCP it is.
    fn identifying(&mut self, part: &str, repetition: u32) {
        let _ = (part, repetition);
    }
    /// A test showed nothing.
    fn failed(&mut self, test: Test, fault: &Fault);
}

impl Watch for () {
    fn answered(&mut self, _: &Report) {}
    fn tested(&mut self, _: &Observation) {}
    fn failed(&mut self, _: Test, _: &Fault) {}
}
