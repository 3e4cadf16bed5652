//! Guided lessons: what is said, the scenarios that are looked at, and questions that the page checks against the run.

use serde::{Deserialize, Serialize};

/// The lessons of the page, in order.
const LESSONS: [(&str, &str); 6] = [
    ("slow-start", include_str!("../page/lessons/slow-start.toml")),
    ("why-loss-misleads", include_str!("../page/lessons/why-loss-misleads.toml")),
    ("estimating-bandwidth", include_str!("../page/lessons/estimating-bandwidth.toml")),
    ("judging-losses", include_str!("../page/lessons/judging-losses.toml")),
    ("client-alone", include_str!("../page/lessons/client-alone.toml")),
    ("to-the-kernel", include_str!("../page/lessons/to-the-kernel.toml")),
];

/// A lesson.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// What links call it.
    #[serde(default)]
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What one learns, in a line.
    pub says: String,
    /// Where that was published.
    pub source: String,
    /// What is done, one after the other.
    pub step: Vec<Step>,
}

/// A step of a lesson.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its heading.
    pub title: String,
    /// Paragraphs, with a blank line between two.
    pub says: String,
    /// The scenario it opens; without one what is there stays.
    pub scenario: Option<String>,
    /// What stands beside it, by what differs: paths as [`Turn`] has them.
    #[serde(default)]
    pub variant: Vec<Turn>,
    /// The recorded run that stands beside it.
    pub recorded: Option<String>,
    /// At what time the path is shown, s.
    pub at_s: Option<f64>,
    /// What is asked.
    pub question: Option<Question>,
}

/// A value in a scenario's text.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Where it is written, by its way through the file: `flow.0.sender`.
    pub path: String,
    /// As it is to be written.
    pub value: String,
}

/// What a step asks.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Question {
    /// The question.
    pub asks: String,
    /// Said to one who is wrong.
    pub hint: String,
    /// Said to one who is right.
    pub right: String,
    /// What is asked for.
    #[serde(flatten)]
    pub wanted: Wanted,
}

/// What answers a question.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// One of these.
    Choose(Vec<Choice>),
    /// A number that follows from what is said.
    Number {
        /// The number.
        is: f64,
        /// What it counts; may be empty.
        unit: String,
        /// By what share of it an answer may be off.
        within: f64,
    },
    /// A number that the run shows.
    Measure {
        /// A metric of the first scenario, or of the one beside it.
        metric: String,
        /// Which of both: `a` or `b`.
        of: Side,
        /// What the metric is multiplied by to be counted in the unit.
        times: f64,
        /// What it is counted in.
        unit: String,
        /// By what share of it an answer may be off.
        within: f64,
    },
    /// A change to the first scenario that takes a metric there.
    Reach {
        /// The metric.
        metric: String,
        /// More than this is enough.
        above: Option<f64>,
        /// Less than this is enough.
        below: Option<f64>,
        /// One way to do it.
        turn: Turn,
    },
}

/// One of the scenarios side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The first one.
    A,
    /// The one beside it.
    B,
}

/// An answer that may be chosen.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The answer.
    pub text: String,
    /// Whether it is right.
    #[serde(default)]
    pub right: bool,
}

/// All lessons.
///
/// # Errors
/// One cannot be read, which is a fault of ours: what is wrong with which.
pub fn lessons() -> Result<Vec<Lesson>, String> {
    let read = |&(id, text): &(&str, &str)| {
        let lesson: Lesson = toml::from_str(text).map_err(|e| format!("the lesson {id}: {e}"))?;
        Ok(Lesson { id: id.to_owned(), ..lesson })
    };
    LESSONS.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_measure::Metric;
    use truckee_net::Options;
    use truckee_scenario::{Document, Outcome};

    /// The text with a value in the place of the one that is written there.
    fn turned(text: &str, turn: &Turn) -> String {
        let written = Document::parse("lesson.toml", text).unwrap().written();
        let Some(one) = written.iter().find(|one| one.path == turn.path) else {
            panic!("{} is not written in\n{text}", turn.path)
        };
        let mut text = text.to_owned();
        text.replace_range(one.at.clone(), &turn.value);
        text
    }

    fn run(text: &str) -> Outcome {
        let scenario = Document::parse("lesson.toml", text).and_then(|document| document.scenario());
        truckee_net::run(&scenario.unwrap_or_else(|e| panic!("{e}\n{text}")), &Options::default()).unwrap()
    }

    fn measured(outcome: &Outcome, metric: &str) -> f64 {
        Metric::parse(metric).unwrap().of(outcome).unwrap().unwrap()
    }

    #[test]
    fn every_question_has_an_answer_and_the_runs_of_its_lesson_give_it() {
        let lessons = lessons().unwrap();
        for lesson in &lessons {
            let mut text = None;
            let mut asked = 0;
            for step in &lesson.step {
                let place = format!("{}: {}", lesson.id, step.title);
                text = step.scenario.clone().or(text);
                let text = text.clone().unwrap_or_else(|| panic!("{place} has no scenario"));
                let beside = step.variant.iter().fold(text.clone(), |text, turn| turned(&text, turn));
                let Some(question) = &step.question else { continue };
                asked += 1;
                match &question.wanted {
                    Wanted::Choose(choices) => {
                        assert_eq!(choices.iter().filter(|one| one.right).count(), 1, "{place}");
                    }
                    Wanted::Number { is, within, .. } => assert!(is.is_finite() && *within < 0.5, "{place}"),
                    Wanted::Measure { metric, of, within, .. } => {
                        let outcome = run(if *of == Side::A { &text } else { &beside });
                        assert!(measured(&outcome, metric).is_finite() && *within < 0.5, "{place}");
                    }
                    Wanted::Reach { metric, above, below, turn } => {
                        let reached = |text: &str| {
                            let value = measured(&run(text), metric);
                            above.is_none_or(|least| value > least) && below.is_none_or(|most| value < most)
                        };
                        assert!(above.is_some() || below.is_some(), "{place}");
                        assert!(!reached(&text), "{place}: it is reached before anything is done");
                        assert!(reached(&turned(&text, turn)), "{place}: the way does not lead there");
                    }
                }
            }
            assert!(asked >= 3, "{} asks {asked} questions", lesson.id);
        }
    }
}
