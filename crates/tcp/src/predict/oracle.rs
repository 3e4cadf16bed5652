//! The ideal predictor: told the truth by the laboratory. It exists only where the truth is known. Source: lp,
//! section 5.2.

use super::LossPredictor;
use crate::spec::{Args, Info, Member, SpecError};
use crate::{Cause, Loss, Truth};

/// Knows; a segment that was not dropped at all counts as congestion, what TCP would assume, or as noise if `unlost` says so.
#[derive(Debug, Clone)]
pub struct Ideal {
    fate: Option<Cause>,
    unlost: Cause,
}

impl Member for Ideal {
    const INFO: Info = Info {
        name: "ideal",
        summary: "is told the true cause by the network: the upper bound",
        formula: "the cause of the drop",
        source: "Martignon, NewReno-LP, section 5.2",
    };
    fn build(args: &mut Args) -> Result<Self, SpecError> {
        let unlost = match args.choice("unlost", &["congestion", "noise"])? {
            "noise" => Cause::Wireless,
            _ => Cause::Congestion,
        };
        Ok(Self { fate: None, unlost })
    }
}

impl LossPredictor for Ideal {
    fn reveal(&mut self, truth: Truth) {
        if let Truth::Fate(fate) = truth {
            self.fate = fate;
        }
    }

    fn wants_truth(&self) -> bool {
        true
    }

    fn verdict(&self, _: &Loss) -> Cause {
        self.fate.unwrap_or(self.unlost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, LossKind, Seq, Spec, Time};

    #[test]
    fn what_was_not_lost_is_congestion_or_what_it_is_told_to_be() {
        let judged = |unlost: &str, fate| {
            let spec = Spec::named("ideal").with("unlost", Arg::Name(unlost.to_owned()));
            let mut ideal = Ideal::build(&mut Args::new(&spec)).unwrap();
            ideal.reveal(Truth::Fate(fate));
            ideal.verdict(&Loss::new(Time::ZERO, LossKind::DupAcks, Seq::FIRST))
        };
        for told in [Cause::Congestion, Cause::Wireless] {
            assert_eq!(["congestion", "noise"].map(|unlost| judged(unlost, Some(told))), [told; 2]);
        }
        assert_eq!(judged("congestion", None), Cause::Congestion);
        assert_eq!(judged("noise", None), Cause::Wireless);
    }
}
