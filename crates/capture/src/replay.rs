//! Estimators, predictors and detectors of `crates/tcp`, run over one direction of a connection of a capture: what each
//! would have said.
//!
//! They hear what a sender, or a receiver, would have told them, as far as it shows where the capture was made; round
//! trips are whole ones, from both of their parts. The window, which does not show, is taken to be what is in the air.
//! Where the capture's writer has noted what became of dropped packets ([`crate::truth`]), predictors are held against
//! that.
//!
//! Not for: growth rules and responses, whose window would be another than the one that the capture shows.

mod application;
mod line;
mod receiver;
mod report;
mod sender;

pub use line::Line;
pub use report::{Estimates, Loss, Phases, Report, Verdicts};

use crate::connection::{Connection, Step, Way};
use crate::error::Error;
use crate::table::Watch;
use crate::wire::Packet;
use receiver::Receiver;
use sender::Sender;
use truckee_tcp::Spec;
use truckee_tcp::books::Judged;
use truckee_tcp::detect::AnyDetector;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::predict::AnyPredictor;

/// What can be asked to speak.
#[derive(Debug, Clone, Default)]
pub struct Cast {
    estimators: Vec<(String, AnyEstimator)>,
    predictors: Vec<(String, AnyPredictor)>,
    detectors: Vec<(String, AnyDetector)>,
}

impl Cast {
    /// By their names.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        let mut cast = Self::default();
        names.into_iter().try_for_each(|name| cast.add(name))?;
        Ok(cast)
    }

    fn add(&mut self, name: &str) -> Result<(), Error> {
        // TCP Taba's detector goes by what it looks at.
        let spec = Spec::named(if name == "taba-detector" { "inter-arrival" } else { name });
        if name == "oracle" {
            let reason = "knows nothing outside a network".to_owned();
            return Err(Error::Unfit { name: name.to_owned(), reason });
        }
        if let Ok((estimator, _)) = AnyEstimator::build(&spec) {
            self.estimators.push((name.to_owned(), estimator));
        } else if let Ok((predictor, _)) = AnyPredictor::build(&spec) {
            self.predictors.push((name.to_owned(), predictor));
        } else if let Ok((detector, _)) = AnyDetector::build(&spec) {
            self.detectors.push((name.to_owned(), detector));
        } else {
            let families = [AnyEstimator::MEMBERS, AnyPredictor::MEMBERS, AnyDetector::MEMBERS];
            let names = families.into_iter().flatten().map(|m| m.name).filter(|&n| n != "oracle");
            let known: Vec<&str> = names.chain(["taba-detector"]).collect();
            if known.contains(&name) {
                let reason = "needs arguments".to_owned();
                return Err(Error::Unfit { name: name.to_owned(), reason });
            }
            return Err(Error::Unknown { name: name.to_owned(), known });
        }
        Ok(())
    }
}

/// Runs a cast over one direction of one connection.
#[derive(Debug)]
pub struct Replay {
    connection: u64,
    way: Way,
    names: [Vec<String>; 3],
    sender: Sender,
    receiver: Receiver,
    throughput: Option<f64>,
}

impl Replay {
    /// Over the data that goes `way` in the connection of that number.
    pub fn new(connection: u64, way: Way, cast: Cast) -> Self {
        fn split<T>(members: Vec<(String, T)>) -> (Vec<String>, Vec<T>) {
            members.into_iter().unzip()
        }
        let (estimator_names, estimators) = split(cast.estimators);
        let (predictor_names, predictors) = split(cast.predictors);
        let (detector_names, detectors) = split(cast.detectors);
        Self {
            connection,
            way,
            names: [estimator_names, predictor_names, detector_names],
            sender: Sender::new(predictors, estimators),
            receiver: Receiver::new(detectors),
            throughput: None,
        }
    }

    /// The number of the connection that they hear of.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Which way the data goes that they hear of.
    pub fn way(&self) -> Way {
        self.way
    }

    /// What they said.
    pub fn report(&self) -> Report {
        let [estimators, predictors, detectors] = &self.names;
        let known = self.sender.has_truth();
        let share = |right: u64, all: u64| (known && all > 0).then(|| right as f64 / all as f64);
        let application = self.sender.application();
        let judged = predictors.iter().zip(self.sender.judged()).zip(self.sender.said());
        Report {
            connection: self.connection,
            way: if self.way == Way::ToServer { "to-server" } else { "to-client" },
            throughput_bps: self.throughput,
            idle_share: application.idle_share(),
            short_share: application.short_share(),
            application_limits: application.limits(),
            estimators: self.sender.estimates(estimators),
            predictors: judged.map(|((name, j), said)| verdicts(name, j, said, share)).collect(),
            detectors: self.receiver.phases(detectors),
            losses: self.sender.losses().to_vec(),
            flight: self.sender.flight().points(),
            dropped: self.sender.dropped(),
        }
    }
}

fn verdicts(
    name: &str,
    j: &Judged,
    (congestion, wireless): (u64, u64),
    share: impl Fn(u64, u64) -> Option<f64>,
) -> Verdicts {
    Verdicts {
        name: name.to_owned(),
        congestion,
        wireless,
        accuracy_congestion: share(j.congestion_right, j.congestion),
        accuracy_wireless: share(j.wireless_right, j.wireless),
        accuracy: share(j.congestion_right + j.wireless_right, j.congestion + j.wireless),
    }
}

impl Watch for Replay {
    fn wants(&mut self, connection: &Connection) -> bool {
        connection.number == self.connection
    }

    fn on_step(&mut self, connection: &Connection, _packet: &Packet, step: &Step) {
        let flow = connection.flow(self.way);
        let size = connection.segment_size(self.way);
        let began = connection.began;
        let ours = step.way == Some(self.way);
        if let Some((ack, acked)) = &step.ack
            && !ours
        {
            self.sender.on_ack(began, flow, size, ack, acked);
        }
        if let Some((data, sent)) = &step.data
            && ours
            && data.len > 0
        {
            let loss = step.again.and_then(|again| again.event);
            self.sender.on_data(began, flow, size, data, sent, loss);
            self.receiver.on_data(began, flow, data, sent);
        }
        self.throughput = flow.throughput.rate();
    }
}
