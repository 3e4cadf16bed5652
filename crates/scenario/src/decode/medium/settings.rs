//! What a medium is: standard, thresholds, propagation, limits; and at which rate its stations send.

use super::super::diagnostics::Diagnostics;
use super::super::reader::Reader;
use crate::document::tree::Value;
use crate::units::{Dimension, Quantity};
use truckee_tcp::Span;
use truckee_wireless::phy::{Band, GuardInterval, Mcs, Preamble, Rate, Slot, Standard};
use truckee_wireless::propagation::{Fading, PathLoss, Shadowing};
use truckee_wireless::{Aggregation, MediumConfig, Protection, RateControl};

const STANDARDS: [&str; 4] = ["802.11b", "802.11a", "802.11g", "802.11n"];
const DBM: &str = "a power from -200dBm to 100dBm";
/// Most attempts of a frame.
const MAX_RETRIES: u64 = 1_000_000;
/// Blocks of shadowing and fading.
const BLOCKS: std::ops::RangeInclusive<Span> = Span::us(1)..=Span::s(1_000_000_000);

/// What the keys of a medium make of its standard's values.
pub(super) fn read(reader: &Reader<'_>) -> Option<MediumConfig> {
    let diag = reader.diag;
    let standard = standard(reader)?;
    let mut config = MediumConfig::of(standard);
    let dbm = |key| reader.get(key).and_then(|v| diag.real(v, Dimension::Power, -200.0..=100.0, DBM));
    let decibels = |value| diag.real(value, Dimension::Ratio, -20.0..=100.0, "a ratio from -20dB to 100dB");
    config.noise = dbm("noise").unwrap_or(config.noise);
    config.sensitivity = dbm("receive_threshold").unwrap_or(config.sensitivity);
    config.carrier_sense = dbm("carrier_sense").unwrap_or(config.carrier_sense);
    let least = (config.noise - 10.0).min(config.sensitivity).min(config.carrier_sense);
    config.ignored = dbm("ignored").unwrap_or(least);
    config.preamble = reader.get("preamble_ratio").and_then(decibels).unwrap_or(config.preamble);
    config.capture = match reader.get("capture") {
        Some(value) if value.text() == Some("none") => None,
        Some(value) => decibels(value).or(config.capture),
        None => config.capture,
    };
    config.delay = reader.time("delay", config.delay, Span::ZERO..=Span::ms(1), "us");
    frequency(reader, &mut config);
    propagation(reader, &mut config);
    if let Some(value) = reader.get("basic_rates") {
        let items =
            diag.list(value, "a list of rates such as [\"1Mbit/s\", \"2Mbit/s\"]").unwrap_or_default();
        let known: Vec<Rate> = match standard {
            Standard::B(_) => standard.rates(),
            _ => Standard::A.rates(),
        };
        config.basic_rates = items.iter().filter_map(|item| one_of(diag, item, &known)).collect();
    }
    config.rts_threshold = match reader.get("rts_threshold") {
        Some(value) if value.text() == Some("never") => u32::MAX,
        Some(value) => diag.bytes(value, 0..=65_535, 1460).map_or(config.rts_threshold, |n| n as u32),
        None => config.rts_threshold,
    };
    let retries = |key, default| match reader.get(key) {
        Some(value) if value.text() == Some("unlimited") => None,
        Some(value) => diag.count(value, 1..=MAX_RETRIES).map_or(default, |n| Some(n as u32)),
        None => default,
    };
    config.short_retries = retries("short_retries", config.short_retries);
    config.long_retries = retries("long_retries", config.long_retries);
    let window = |key, default: u32| reader.count(key, u64::from(default), 1..=32_767) as u32;
    config.timing.cw_min = window("cw_min", config.timing.cw_min);
    config.timing.cw_max = window("cw_max", config.timing.cw_max.max(config.timing.cw_min));
    config.protection = protection(reader, standard);
    config.aggregation = aggregation(reader, config.aggregation);
    Some(config)
}

fn standard(reader: &Reader<'_>) -> Option<Standard> {
    let value = reader.required("standard", "\"802.11g\"")?;
    Some(match reader.diag.choice(value, "standard", &STANDARDS)? {
        "802.11b" => Standard::B(match reader.choice("preamble", &["long", "short"]) {
            "short" => Preamble::Short,
            _ => Preamble::Long,
        }),
        "802.11a" => Standard::A,
        "802.11g" => Standard::G(match reader.choice("slot", &["short", "long"]) {
            "long" => Slot::Long,
            _ => Slot::Short,
        }),
        _ => {
            let band = match reader.choice("band", &["2.4GHz", "5GHz"]) {
                "5GHz" => Band::Ghz5,
                _ => Band::Ghz2_4,
            };
            let guard = match reader.choice("guard_interval", &["long", "short"]) {
                "short" => GuardInterval::Short,
                _ => GuardInterval::Long,
            };
            Standard::N(band, guard)
        }
    })
}

fn frequency(reader: &Reader<'_>, config: &mut MediumConfig) {
    if let Some(value) = reader.get("frequency") {
        let hertz =
            reader.diag.real(value, Dimension::Frequency, 1e6..=1e12, "a frequency from 1MHz to 1000GHz");
        config.propagation.frequency = hertz.unwrap_or(config.propagation.frequency);
    }
}

fn propagation(reader: &Reader<'_>, config: &mut MediumConfig) {
    let diag = reader.diag;
    let inner = reader.get("propagation").and_then(|value| Reader::of(diag, value, "propagation"));
    let Some(inner) = inner else { return };
    let Some(kind) = inner.kind(&["free-space", "two-ray", "log-distance"], Some("free-space")) else {
        return inner.abandon();
    };
    let number = |reader: &Reader<'_>, key, least: f64, most: f64, default| {
        let expected = format!("a number from {least} to {most}");
        let value = reader.get(key).and_then(|v| diag.number(v, |x| (least..=most).contains(&x), &expected));
        value.unwrap_or(default)
    };
    config.propagation.path_loss = match kind {
        "two-ray" => PathLoss::TwoRay,
        "log-distance" => PathLoss::LogDistance {
            exponent: number(&inner, "exponent", 0.0, 10.0, 3.0),
            reference: inner
                .get("reference")
                .and_then(|v| diag.real(v, Dimension::Length, 1.0..=1e6, "a length from 1m to 1000km"))
                .unwrap_or(1.0),
        },
        _ => PathLoss::FreeSpace,
    };
    if let Some(shadowing) = inner.get("shadowing").and_then(|v| Reader::of(diag, v, "shadowing")) {
        let sigma = shadowing
            .required("sigma", "\"4dB\"")
            .and_then(|value| diag.real(value, Dimension::Ratio, 0.0..=30.0, "a deviation from 0dB to 30dB"));
        let correlation = shadowing.time("correlation", Span::s(1), BLOCKS, "ms");
        shadowing.finish();
        config.propagation.shadowing = sigma.map(|sigma_db| Shadowing { sigma_db, correlation });
    }
    if let Some(fading) = inner.get("fading").and_then(|v| Reader::of(diag, v, "fading")) {
        let kind = fading.kind(&["rayleigh", "rice"], Some("rayleigh"));
        let k = if kind == Some("rice") { number(&fading, "k", 0.0, 1e6, 1.0) } else { 0.0 };
        let coherence = fading.time("coherence", Span::ms(10), BLOCKS, "ms");
        fading.finish();
        config.propagation.fading = Some(Fading { k, coherence });
    }
    inner.finish();
}

fn protection(reader: &Reader<'_>, standard: Standard) -> Option<Protection> {
    // The highest of 802.11b: what everybody understands.
    let rate = Standard::B(Preamble::Long).rates().last().copied();
    match reader.choice("protection", &["none", "cts-to-self", "rts-cts"]) {
        "none" => None,
        _ if !matches!(standard, Standard::G(_) | Standard::N(Band::Ghz2_4, _)) => {
            let place = reader.get("protection").map_or(reader.place, |value| &value.place);
            let message = "protection from stations of 802.11b where there are none".to_owned();
            reader.diag.report(place, message, Some("802.11g or 802.11n in 2.4 GHz".into()), None);
            None
        }
        "cts-to-self" => rate.map(Protection::CtsToSelf),
        _ => rate.map(Protection::RtsCts),
    }
}

fn aggregation(reader: &Reader<'_>, default: Option<Aggregation>) -> Option<Aggregation> {
    let diag = reader.diag;
    let Some(value) = reader.get("aggregation") else { return default };
    if value.table().is_none() {
        let on = diag.flag(value).unwrap_or(false);
        return on.then(|| default.unwrap_or_default());
    }
    let inner = Reader::of(diag, value, "aggregation")?;
    let all = default.unwrap_or_default();
    let bytes = inner.get("bytes").and_then(|v| diag.bytes(v, 1..=65_535, 1460));
    let aggregation = Aggregation {
        frames: inner.count("frames", u64::from(all.frames), 1..=64) as u32,
        bytes: bytes.map_or(all.bytes, |n| n as u32),
        airtime: inner.time("airtime", all.airtime, Span::us(100)..=Span::ms(10), "ms"),
        asks: inner.flag("asks", all.asks),
    };
    inner.finish();
    Some(aggregation)
}

/// A fixed rate, or a control of rates.
pub(super) fn rate(reader: &Reader<'_>, config: &MediumConfig) -> Option<RateControl> {
    let Some(value) = reader.get("rate") else { return Some(RateControl::Arf) };
    match value.text() {
        Some("arf") => Some(RateControl::Arf),
        Some("minstrel") => Some(RateControl::Minstrel),
        _ => one_of(reader.diag, value, &config.standard.rates()).map(RateControl::Fixed),
    }
}

/// What the scenario file calls a rate.
pub(crate) fn rate_name(rate: Rate) -> String {
    match rate {
        Rate::Ht(mcs) => format!("mcs{}", mcs.index()),
        other => format!("{}Mbit/s", other.mbit()),
    }
}

/// One of the rates that there are.
fn one_of(diag: &Diagnostics<'_>, value: &Value, known: &[Rate]) -> Option<Rate> {
    let names: Vec<String> = known.iter().map(|rate| rate_name(*rate)).collect();
    let text = diag.text(value, "a rate of the standard, \"arf\" or \"minstrel\"")?;
    let scheme = text.strip_prefix("mcs").and_then(|n| n.parse().ok()).and_then(Mcs::new).map(Rate::Ht);
    let mbit = match crate::units::parse(text) {
        Some(Quantity::Rate(rate)) => Some(rate),
        _ => None,
    };
    let meant = |rate: &&Rate| match (rate, scheme, mbit) {
        (_, Some(scheme), _) => **rate == scheme,
        (Rate::Ht(_), None, _) => false,
        (rate, None, Some(mbit)) => (rate.mbit() * 1e6 - mbit).abs() < 1.0,
        _ => false,
    };
    let found = known.iter().find(meant).copied();
    if found.is_none() {
        diag.unknown_name(&value.place, "rate", text, names.iter().map(String::as_str));
    }
    found
}
