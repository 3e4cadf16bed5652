//! An object as a member of each of the families.

use super::{Foreign, cause};
use crate::events::{Ack, Air, Arrival, Departure, Loss, Window};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use truckee_tcp::ack::{AckPolicy, AckSink};
use truckee_tcp::controller::{Controller, Interest};
use truckee_tcp::detect::{Phase, SlowStartDetector};
use truckee_tcp::estimate::BandwidthEstimator;
use truckee_tcp::predict::LossPredictor;
use truckee_tcp::response::LossResponse;
use truckee_tcp::{Cause, Seq, Span, Time};

impl Foreign {
    fn hear_ack(&self, ack: &truckee_tcp::Ack, w: &truckee_tcp::Window) {
        if self.of.has.on_ack {
            self.ask("on_ack", |py| {
                let told = (Ack(*ack), Window(*w));
                self.object.bind(py).call_method1(intern!(py, "on_ack"), told).map(drop)
            });
        }
    }

    fn hear_sent(&self, sent: &truckee_tcp::Departure) {
        if self.of.has.on_sent {
            self.ask("on_sent", |py| {
                self.object.bind(py).call_method1(intern!(py, "on_sent"), (Departure(*sent),)).map(drop)
            });
        }
    }
}

impl BandwidthEstimator for Foreign {
    fn on_sent(&mut self, sent: &truckee_tcp::Departure) {
        self.hear_sent(sent);
    }

    fn on_ack(&mut self, ack: &truckee_tcp::Ack, w: &truckee_tcp::Window) {
        self.hear_ack(ack, w);
    }

    fn advance(&mut self, now: Time) {
        if self.of.has.advance {
            self.ask("advance", |py| {
                self.object.bind(py).call_method1(intern!(py, "advance"), (now.seconds(),)).map(drop)
            });
        }
    }

    fn on_timeout(&mut self) {
        if self.of.has.on_timeout {
            self.ask("on_timeout", |py| {
                self.object.bind(py).call_method0(intern!(py, "on_timeout")).map(drop)
            });
        }
    }

    fn bits_per_second(&self) -> Option<f64> {
        self.ask("bits_per_second", |py| {
            self.object.bind(py).call_method0(intern!(py, "bits_per_second"))?.extract()
        })
    }
}

impl LossPredictor for Foreign {
    fn on_sent(&mut self, sent: &truckee_tcp::Departure) {
        self.hear_sent(sent);
    }

    fn on_ack(&mut self, ack: &truckee_tcp::Ack, w: &truckee_tcp::Window) {
        self.hear_ack(ack, w);
    }

    fn on_timeout(&mut self, now: Time) {
        if self.of.has.on_timeout {
            self.ask("on_timeout", |py| {
                self.object.bind(py).call_method1(intern!(py, "on_timeout"), (now.seconds(),)).map(drop)
            });
        }
    }

    fn verdict(&self, loss: &truckee_tcp::Loss) -> Cause {
        self.ask("verdict", |py| {
            let said = self.object.bind(py).call_method1(intern!(py, "verdict"), (Loss(*loss),))?;
            cause("verdict", &said)
        })
    }
}

impl SlowStartDetector for Foreign {
    fn on_segment(&mut self, arrival: &truckee_tcp::Arrival) {
        self.ask("on_segment", |py| {
            self.object.bind(py).call_method1(intern!(py, "on_segment"), (Arrival(*arrival),)).map(drop)
        });
    }

    fn phase(&self) -> Phase {
        let in_slow_start: bool = self.ask("in_slow_start", |py| {
            self.object.bind(py).call_method0(intern!(py, "in_slow_start"))?.extract()
        });
        if in_slow_start { Phase::SlowStart } else { Phase::Avoidance }
    }
}

impl LossResponse for Foreign {
    fn on_loss(&mut self, loss: &truckee_tcp::Loss, w: &mut truckee_tcp::Window) -> Cause {
        let taken_for = self.set("on_loss", w, |py, object, window| {
            object.call_method1(intern!(py, "on_loss"), (Loss(*loss), window))
        });
        taken_for.unwrap_or(Cause::Congestion)
    }

    fn on_ack(&mut self, ack: &truckee_tcp::Ack, w: &truckee_tcp::Window) {
        self.hear_ack(ack, w);
    }

    fn on_sent(&mut self, sent: &truckee_tcp::Departure) {
        self.hear_sent(sent);
    }

    fn listens(&self) -> bool {
        self.of.has.on_ack || self.of.has.on_sent
    }
}

impl Controller for Foreign {
    fn interest(&self) -> Interest {
        let has = self.of.has;
        Interest {
            acks: has.hear,
            air: has.after_ack,
            departures: has.on_sent,
            paces: has.pacing_rate,
            rates: has.after_ack,
        }
    }

    fn hear(&mut self, ack: &truckee_tcp::Ack, w: &truckee_tcp::Window) {
        if self.of.has.hear {
            self.ask("hear", |py| {
                let told = (Ack(*ack), Window(*w));
                self.object.bind(py).call_method1(intern!(py, "hear"), told).map(drop)
            });
        }
    }

    fn on_ack(&mut self, ack: &truckee_tcp::Ack, w: &mut truckee_tcp::Window) {
        self.set("on_ack", w, |py, object, window| {
            object.call_method1(intern!(py, "on_ack"), (Ack(*ack), window))
        });
    }

    fn after_ack(&mut self, ack: &truckee_tcp::Ack, air: &truckee_tcp::Air, w: &mut truckee_tcp::Window) {
        if self.of.has.after_ack {
            self.set("after_ack", w, |py, object, window| {
                object.call_method1(intern!(py, "after_ack"), (Ack(*ack), Air(*air), window))
            });
        }
    }

    fn on_sent(&mut self, sent: &truckee_tcp::Departure, _: &truckee_tcp::Window) {
        self.hear_sent(sent);
    }

    fn on_loss(&mut self, loss: &truckee_tcp::Loss, w: &mut truckee_tcp::Window) -> Cause {
        LossResponse::on_loss(self, loss, w)
    }

    fn on_undo(&mut self, now: Time, w: &mut truckee_tcp::Window) {
        if self.of.has.on_undo {
            self.set("on_undo", w, |py, object, window| {
                object.call_method1(intern!(py, "on_undo"), (now.seconds(), window))
            });
        }
    }

    fn pacing_rate(&self, w: &truckee_tcp::Window) -> Option<f64> {
        if !self.of.has.pacing_rate {
            return None;
        }
        let bits: Option<f64> = self.ask("pacing_rate", |py| {
            self.object.bind(py).call_method1(intern!(py, "pacing_rate"), (Window(*w),))?.extract()
        });
        bits.map(|bits| bits / 8.0)
    }
}

impl AckPolicy for Foreign {
    fn on_segment(&mut self, segment: &truckee_tcp::Arrival, out: &mut AckSink) {
        self.ask("on_segment", |py| {
            let said = self.object.bind(py).call_method1(intern!(py, "on_segment"), (Arrival(*segment),))?;
            acks(&said, out)
        });
    }

    fn on_timer(&mut self, now: Time, rcv_nxt: Seq, out: &mut AckSink) {
        if self.of.has.on_timer {
            self.ask("on_timer", |py| {
                let told = (now.seconds(), rcv_nxt.number());
                acks(&self.object.bind(py).call_method1(intern!(py, "on_timer"), told)?, out)
            });
        }
    }

    fn deadline(&self) -> Option<Time> {
        if !self.of.has.on_timer {
            return None;
        }
        self.ask("deadline", |py| {
            let at: Option<f64> = self.object.bind(py).call_method0(intern!(py, "deadline"))?.extract()?;
            at.map(|at| match at.is_finite() && at >= 0.0 {
                true => Ok(Time::at(Span::ns((at * 1e9).round() as u64))),
                false => Err(PyValueError::new_err(format!("deadline answered {at}, expected a time in s"))),
            })
            .transpose()
        })
    }

    fn has_timer(&self) -> bool {
        self.of.has.on_timer
    }
}

/// Puts what a policy has answered where ACKs go: nothing, a number, or several.
fn acks(said: &Bound<'_, PyAny>, out: &mut AckSink) -> PyResult<()> {
    if said.is_none() {
        return Ok(());
    }
    if let Ok(number) = said.extract::<u64>() {
        out.ack(Seq::at(number));
        return Ok(());
    }
    for number in said.try_iter()? {
        out.ack(Seq::at(number?.extract()?));
    }
    Ok(())
}
