//! Who watches a flow's ends: `observe = { predictors = […], estimators = […], detectors = […], every = "100ms" }`.

use super::algorithm::{self, Resolve};
use super::reader::Reader;
use crate::document::tree::{Kind, Value};
use crate::model::Observe;
use crate::units::{format_bytes, format_rate, format_time};
use truckee_tcp::detect::AnyDetector;
use truckee_tcp::estimate::AnyEstimator;
use truckee_tcp::predict::AnyPredictor;
use truckee_tcp::{Arg, Registry, Span, Spec, SpecError};

const EVERY: Span = Span::ms(100);
const SECOND: Span = Span::s(1);

/// Reads the key of a flow.
pub(super) fn read(reader: &Reader<'_>) -> Observe {
    let nobody =
        Observe { predictors: Vec::new(), estimators: Vec::new(), detectors: Vec::new(), every: EVERY };
    let Some(value) = reader.get("observe") else { return nobody };
    let Some(inner) = Reader::of(reader.diag, value, "who observes") else { return nobody };
    let predictors = list(&inner, "predictors", |s, r| AnyPredictor::build_among(s, r).map(|(_, spec)| spec));
    let estimators = list(&inner, "estimators", estimator);
    let detectors = list(&inner, "detectors", |s, r| AnyDetector::build_among(s, r).map(|(_, spec)| spec));
    let every = inner.time("every", EVERY, Span::us(1)..=3600 * SECOND, "ms");
    inner.finish();
    Observe { predictors, estimators, detectors, every }
}

fn list(reader: &Reader<'_>, key: &'static str, resolve: Resolve) -> Vec<(String, Spec)> {
    let Some(value) = reader.get(key) else { return Vec::new() };
    let Kind::List(items) = &value.kind else {
        let example = match key {
            "predictors" => "[\"vegas\", { spike = { alpha = 0.8 } }]",
            "estimators" => "[\"tibet\", { csfq = { k = \"20s\" } }]",
            _ => "[\"round-growth\", { inter-arrival = { beta = 0.3 } }]",
        };
        reader.diag.refuse(value, &format!("a list, such as {example}"));
        return Vec::new();
    };
    let mut all: Vec<(String, Spec)> = Vec::new();
    for item in items {
        let Some((name, spec)) = one(reader, item, resolve) else { continue };
        if all.iter().any(|(other, _)| *other == name) {
            let message = format!("\"{name}\" is in the list twice");
            reader.diag.report(&item.place, message, Some("each of them once".into()), None);
            continue;
        }
        all.push((name, spec));
    }
    all
}

fn one(reader: &Reader<'_>, item: &Value, resolve: Resolve) -> Option<(String, Spec)> {
    let given = algorithm::spec(reader.diag, item)?;
    let resolved = algorithm::resolved(reader.diag, &given, Some(item), resolve, &item.place)?;
    Some((label(&resolved, resolve, reader.diag.registry), resolved))
}

/// What results call it: its name and the arguments that are not the defaults, `spike(alpha=0.8,beta=0.7)`.
fn label(spec: &Spec, resolve: Resolve, registry: &Registry) -> String {
    let defaults = resolve(&Spec::named(&spec.name), registry).map(|spec| spec.args).unwrap_or_default();
    let own = spec.args.iter().filter(|arg| !defaults.contains(arg));
    let args: Vec<String> = own.map(|(key, arg)| format!("{key}={}", argument(arg, registry))).collect();
    if args.is_empty() { spec.name.clone() } else { format!("{}({})", spec.name, args.join(",")) }
}

fn estimator(spec: &Spec, registry: &Registry) -> Result<Spec, SpecError> {
    AnyEstimator::build_among(spec, registry).map(|(_, resolved)| resolved)
}

fn argument(arg: &Arg, registry: &Registry) -> String {
    match arg {
        Arg::Number(x) => x.to_string(),
        Arg::Time(t) => format_time(*t),
        Arg::Rate(r) => format_rate(*r),
        Arg::Bytes(b) => format_bytes(*b),
        Arg::Segments(n) => format!("{n}segments"),
        Arg::Flag(flag) => flag.to_string(),
        Arg::Name(name) => name.clone(),
        Arg::Spec(inner) => label(inner, estimator, registry),
    }
}
