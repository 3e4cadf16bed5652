//! Questions and answers.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use truckee_measure::Metric;
use truckee_measure::stats::{CONFIDENCE, Estimate, paired_difference};
use truckee_net::{Options, Stepped};
use truckee_scenario::{Document, Errors, Given, Outcome, Scenario, Span, Time, Written};

/// What a page may ask, as JSON: `{"do": "advance", "run": 1, "until_s": 0.5}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Question {
    /// What is wrong with a scenario, or what it is.
    Check(Text),
    /// The numbers and names of a scenario where they stand in its text.
    Written(Text),
    /// Begins a run, with time series or without.
    Begin {
        #[serde(flatten)]
        text: Text,
        #[serde(default)]
        series: bool,
    },
    /// Lets a run go on until so many seconds of its time.
    Advance { run: u32, until_s: f64 },
    /// What a run that is over showed, as `truckee run --format json` has it.
    Result { run: u32 },
    /// The page of a run that is over, with all its figures.
    Page { run: u32 },
    /// What a run that is over has of these metrics.
    Measure { run: u32, metrics: Vec<String> },
    /// The mean of such values over runs, and where there are two lots, seed by seed, that of the difference between the
    /// first and the second.
    Estimate {
        values: Vec<Option<f64>>,
        #[serde(default)]
        others: Vec<Option<f64>>,
    },
    /// What a file is, by its text.
    File { name: String, text: String },
    /// Ends and forgets a run.
    End { run: u32 },
}

/// A scenario.
#[derive(Debug, Deserialize)]
struct Text {
    /// What messages and results call it.
    name: String,
    /// As in a file.
    text: String,
    /// Paths and values that override what is written, in order.
    #[serde(default)]
    set: Vec<(String, String)>,
    /// Files that it may name, and their texts.
    #[serde(default)]
    files: HashMap<String, String>,
    /// In place of the written one.
    seed: Option<u64>,
}

/// What is said to it.
#[derive(Debug, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
enum Answer {
    /// The scenario can be run.
    Scenario { name: String, duration_s: f64, seed: u64, flows: Vec<String> },
    /// Its numbers and names.
    Written { written: Vec<Written> },
    /// One value for each metric that was asked for, and its unit.
    Measured { values: Vec<Option<f64>>, units: Vec<&'static str> },
    /// Means with intervals.
    Estimates { mean: Estimate, other: Option<Estimate>, difference: Option<Estimate>, confidence: f64 },
    /// A file that a scenario can name: a recorded capacity, with its period, or a table of delays.
    File { period_s: Option<f64>, opportunities: Option<usize>, no_trace: Option<String> },
    /// It cannot be read.
    Problems { problems: Vec<Problem> },
    /// A run has begun.
    Run { run: u32 },
    /// To where a run has come, and where it ends, s of its time.
    Progress { at_s: f64, end_s: f64, over: bool },
    /// It has ended.
    Ended,
    /// Anything else that went wrong.
    Failed { why: String },
}

/// One thing that is wrong with a scenario.
#[derive(Debug, Serialize)]
struct Problem {
    message: String,
    expected: Option<String>,
    help: Option<String>,
    /// From 1; none where it is not in the text.
    line: Option<usize>,
    /// From 1, in characters.
    column: Option<usize>,
    /// All of it as the command prints it, with an excerpt.
    shown: String,
}

/// A run that goes on as far as it is asked to, or one that has.
#[derive(Debug)]
enum Run {
    UnderWay(Stepped),
    Over(Box<Outcome>),
}

/// What a page is told of: scenarios, and runs.
#[derive(Debug, Default)]
pub struct Session {
    runs: BTreeMap<u32, Run>,
    begun: u32,
}

impl Session {
    /// Answers a question, both in JSON. Whatever the question is, there is an answer; what is wrong with it is one, too.
    pub fn answer(&mut self, question: &[u8]) -> String {
        let answer = match serde_json::from_slice(question) {
            Ok(question) => self.said(question),
            Err(e) => Err(format!("that is no question: {e}")),
        };
        answer.unwrap_or_else(|why| json(&Answer::Failed { why }))
    }

    fn said(&mut self, question: Question) -> Result<String, String> {
        let answer = match question {
            Question::Result { run } => {
                return serde_json::to_string(self.over(run)?).map_err(|e| e.to_string());
            }
            Question::Page { run } => {
                return truckee_look::report::of_run(self.over(run)?).map_err(|e| e.to_string());
            }
            Question::Check(text) => match scenario(&text) {
                Ok(scenario) => Answer::Scenario {
                    duration_s: scenario.duration.seconds(),
                    seed: scenario.seed,
                    flows: scenario.flows.iter().map(|flow| flow.name.clone()).collect(),
                    name: scenario.name,
                },
                Err(errors) => problems(&errors),
            },
            Question::Written(text) => match document(&text) {
                Ok(document) => Answer::Written { written: document.written() },
                Err(errors) => problems(&errors),
            },
            Question::File { name, text } => match Given::of(&name, &text)? {
                Given::Trace { period_s, opportunities } => {
                    let opportunities = Some(opportunities);
                    Answer::File { period_s: Some(period_s), opportunities, no_trace: None }
                }
                Given::Table { no_trace } => {
                    Answer::File { period_s: None, opportunities: None, no_trace: Some(no_trace) }
                }
            },
            Question::Measure { run, metrics } => measured(self.over(run)?, &metrics)?,
            Question::Estimate { values, others } => estimates(values, others),
            Question::Begin { text, series } => match scenario(&text) {
                Ok(scenario) => {
                    let options = Options { series, ..Options::default() };
                    let run = Stepped::recording(scenario, &[], &options).map_err(|e| e.to_string())?;
                    self.begun += 1;
                    self.runs.insert(self.begun, Run::UnderWay(run));
                    Answer::Run { run: self.begun }
                }
                Err(errors) => problems(&errors),
            },
            Question::Advance { run, until_s } => self.advance(run, until_s)?,
            Question::End { run } => {
                self.runs.remove(&run).ok_or_else(|| unknown(run))?;
                Answer::Ended
            }
        };
        Ok(json(&answer))
    }

    fn advance(&mut self, run: u32, until_s: f64) -> Result<Answer, String> {
        let there = self.runs.get_mut(&run).ok_or_else(|| unknown(run))?;
        let Run::UnderWay(stepped) = there else { return Ok(progress(there)) };
        // As a cast to whole numbers has it, what is below 0 or no number is 0, and what is too large the largest there is.
        match stepped.advance(Time::ZERO + Span::ns((until_s * 1e9) as u64)) {
            Ok(true) => {
                let outcome = stepped.outcome().ok_or_else(|| unknown(run))?;
                *there = Run::Over(Box::new(outcome));
                Ok(progress(there))
            }
            Ok(false) => Ok(progress(there)),
            Err(error) => {
                // Nothing can be had of it any more.
                self.runs.remove(&run);
                Err(error.to_string())
            }
        }
    }

    /// What a run came to.
    fn over(&self, run: u32) -> Result<&Outcome, String> {
        match self.runs.get(&run) {
            Some(Run::Over(outcome)) => Ok(outcome),
            Some(Run::UnderWay(_)) => Err(format!("run {run} is not over")),
            None => Err(unknown(run)),
        }
    }
}

fn progress(run: &Run) -> Answer {
    match run {
        Run::UnderWay(stepped) => {
            Answer::Progress { at_s: stepped.now().seconds(), end_s: stepped.end().seconds(), over: false }
        }
        Run::Over(outcome) => {
            Answer::Progress { at_s: outcome.simulated_s, end_s: outcome.simulated_s, over: true }
        }
    }
}

fn unknown(run: u32) -> String {
    format!("there is no run {run}")
}

fn json(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_else(|e| format!("{{\"is\":\"failed\",\"why\":\"{e}\"}}"))
}

fn measured(outcome: &Outcome, metrics: &[String]) -> Result<Answer, String> {
    let (mut values, mut units) = (Vec::new(), Vec::new());
    for name in metrics {
        let metric = Metric::parse(name).map_err(|e| e.to_string())?;
        values.push(metric.of(outcome).map_err(|e| e.to_string())?);
        units.push(metric.unit());
    }
    Ok(Answer::Measured { values, units })
}

fn estimates(values: Vec<Option<f64>>, others: Vec<Option<f64>>) -> Answer {
    let both = !others.is_empty();
    let pairs: Vec<_> = values.iter().copied().zip(others.iter().copied()).collect();
    Answer::Estimates {
        mean: Estimate::of(values, CONFIDENCE),
        other: both.then(|| Estimate::of(others, CONFIDENCE)),
        difference: both.then(|| paired_difference(&pairs, CONFIDENCE)),
        confidence: CONFIDENCE,
    }
}

fn document(text: &Text) -> Result<Document, Errors> {
    let mut document = Document::parse(&text.name, &text.text)?.with_files(text.files.clone());
    for (path, value) in &text.set {
        document.set(path, value)?;
    }
    Ok(document)
}

fn scenario(text: &Text) -> Result<Scenario, Errors> {
    let mut scenario = document(text)?.scenario()?;
    scenario.need_senders()?;
    scenario.seed = text.seed.unwrap_or(scenario.seed);
    Ok(scenario)
}

fn problems(errors: &Errors) -> Answer {
    let one = |e: &truckee_scenario::Error| Problem {
        message: e.message.clone(),
        expected: e.expected.clone(),
        help: e.help.clone(),
        line: e.place.as_ref().and_then(|place| place.line),
        column: e.place.as_ref().map(|place| place.column),
        shown: e.to_string(),
    };
    Answer::Problems { problems: errors.list.iter().map(one).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const TEXT: &str = r#"
        duration = "10s"
        topology = { kind = "single-link", rate = "10Mbit/s", channel = { kind = "bernoulli", per = 0.01 } }
        flow     = [{ from = "src", to = "dst" }]
    "#;

    fn ask(session: &mut Session, question: &Value) -> Value {
        serde_json::from_str(&session.answer(question.to_string().as_bytes())).unwrap()
    }

    #[test]
    fn a_run_in_slices_has_the_outcome_of_the_run_in_one_go() {
        let session = &mut Session::default();
        let begun = ask(
            session,
            &json!({ "do": "begin", "name": "t.toml", "text": TEXT, "seed": 7, "series": true }),
        );
        assert_eq!(begun, json!({ "is": "run", "run": 1 }));
        let early = ask(session, &json!({ "do": "page", "run": 1 }));
        assert_eq!(early["why"], "run 1 is not over");
        let mut slices = 0;
        loop {
            let at = ask(session, &json!({ "do": "advance", "run": 1, "until_s": f64::from(slices) * 0.5 }));
            assert_eq!(at["is"], "progress", "{at}");
            slices += 1;
            if at["over"] == true {
                break;
            }
        }
        assert!(slices > 10, "{slices}");
        let mut whole = Document::parse("t.toml", TEXT).unwrap().scenario().unwrap();
        whole.seed = 7;
        let outcome = truckee_net::run(&whole, &truckee_net::Options::default()).unwrap();
        assert_eq!(ask(session, &json!({ "do": "result", "run": 1 }))["digest"], outcome.digest.as_str());
        let page = ask(session, &json!({ "do": "page", "run": 1 }));
        assert_eq!(page["page"]["title"], "t.toml, seed 7");
        assert!(page["data"]["figures"].as_array().unwrap().len() >= 3);
        assert_eq!(ask(session, &json!({ "do": "end", "run": 1 })), json!({ "is": "ended" }));
        assert_eq!(ask(session, &json!({ "do": "end", "run": 1 }))["is"], "failed");
    }

    #[test]
    fn what_is_wrong_with_a_scenario_is_told_at_its_place() {
        let session = &mut Session::default();
        let text = TEXT.replace("to = \"dst\"", "to = \"dst\", sender = \"renoo\"");
        let said = ask(session, &json!({ "do": "check", "name": "t.toml", "text": text }));
        let problem = &said["problems"][0];
        assert_eq!((&problem["line"], &problem["help"]), (&json!(4), &json!("did you mean \"reno\"?")));
        let set = json!([["flow.sender", "renoo"]]);
        let said = ask(session, &json!({ "do": "check", "name": "t.toml", "text": TEXT, "set": set }));
        assert_eq!(said["problems"][0]["line"], Value::Null, "it is in no line of the text: {said}");
        let set = json!([["flow.sender", "cubic"], ["duration", "3s"]]);
        let said = ask(session, &json!({ "do": "check", "name": "t.toml", "text": TEXT, "set": set }));
        assert_eq!((&said["is"], &said["duration_s"]), (&json!("scenario"), &json!(3.0)));
    }

    #[test]
    fn a_file_is_handed_over_with_the_scenario_that_names_it() {
        let session = &mut Session::default();
        let text = r#"
            duration = "10s"
            link = [{ between = ["src", "dst"], delay = "10ms", rate_back = "1Mbit/s", channel = { kind = "trace", file = "cell.trace" } }]
            flow = [{ from = "src", to = "dst" }]
        "#;
        let said = ask(session, &json!({ "do": "check", "name": "t.toml", "text": text }));
        assert!(said["problems"][0]["message"].as_str().unwrap().contains("no file of this name"), "{said}");
        let files = json!({ "cell.trace": "1\n2\n3\n" });
        let said = ask(session, &json!({ "do": "check", "name": "t.toml", "text": text, "files": files }));
        assert_eq!(said["is"], "scenario", "{said}");
        let said = ask(session, &json!({ "do": "file", "name": "a", "text": "1\n2\n3\n" }));
        assert_eq!(said, json!({ "is": "file", "period_s": 0.003, "opportunities": 3, "no_trace": null }));
        let said = ask(session, &json!({ "do": "file", "name": "a", "text": "GIF89a" }));
        assert!(said["why"].as_str().unwrap().starts_with("a, line 1"), "{said}");
    }

    #[test]
    fn whatever_is_asked_there_is_an_answer() {
        let session = &mut Session::default();
        for question in ["", "{", "null", "{\"do\":\"sing\"}", "{\"do\":\"end\",\"run\":-1}", "\u{fffd}"] {
            let said: Value = serde_json::from_str(&session.answer(question.as_bytes())).unwrap();
            assert!(said["why"].as_str().unwrap().starts_with("that is no question"), "{said}");
        }
        for until in [-1.0, 1e300] {
            let run = ask(session, &json!({ "do": "begin", "name": "t", "text": TEXT }))["run"].clone();
            let at = ask(session, &json!({ "do": "advance", "run": run, "until_s": until }));
            assert_eq!(at["over"], until > 0.0, "{at}");
        }
        let live = TEXT.replace("to = \"dst\"", "to = \"dst\", sender = \"kernel:htcp\"");
        let said = ask(session, &json!({ "do": "begin", "name": "t", "text": live }));
        assert!(said["why"].as_str().unwrap().contains("\"htcp\""), "{said}");
    }
}
