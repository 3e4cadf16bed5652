//! One station that always has something to send, and one that hears it: every interval of it is known, and its goodput
//! is arithmetic.

use crate::cell::{Cell, Flow, stations};
use truckee_wireless::phy::{Band, Dsss, GuardInterval, Mcs, Ofdm, Preamble, Rate, Slot, Standard};
use truckee_wireless::{
    FrameReport, Kind, MediumConfig, Nanos, Position, Protection, RateControl, Report, Time,
};

const US: Nanos = 1_000;
const SECOND: Time = 1_000_000_000;

/// The frames of a run of a second, two stations at 30 m, packets of 1,500 bytes, and how many packets came.
fn run(config: &MediumConfig, rate: Rate, until: Time) -> (Vec<FrameReport>, u64) {
    let places = [0.0, 30.0].map(|x| Position::on_ground(x, 0.0));
    let flows = [Flow { from: 0, to: 1, bytes: 1_500 }];
    let config = MediumConfig { frames: true, ..config.clone() };
    let mut cell = Cell::new(&config, &stations(&places, RateControl::Fixed(rate)), &flows, 1).logged();
    cell.run(until);
    let frames = cell.log.unwrap_or_default().into_iter().filter_map(|report| match report {
        Report::Frame(frame) => Some(frame),
        _ => None,
    });
    (frames.collect(), cell.delivered[0])
}

/// That exchanges are these frames with a SIFS between them, and that between two exchanges are a DIFS and 0 to CWmin
/// whole slots, every one of those equally often; `times` are those of the frames in microseconds.
fn is_exact(config: &MediumConfig, rate: Rate, kinds: &[Kind], times: &[Nanos]) {
    let (frames, delivered) = run(config, rate, 20 * SECOND);
    let timing = config.timing;
    let mut slots = vec![0u64; timing.cw_min as usize + 1];
    let mut last_end = None;
    for exchange in frames.chunks_exact(kinds.len()) {
        for (i, frame) in exchange.iter().enumerate() {
            assert_eq!((frame.kind, frame.airtime), (kinds[i], times[i] * US), "frame {i} of an exchange");
            assert_eq!(frame.failure, None);
            if i > 0 {
                let before = exchange[i - 1];
                assert_eq!(frame.start, before.start + before.airtime + config.delay + timing.sifs);
            }
        }
        if let Some(end) = last_end {
            let idle = exchange[0].start - end - timing.difs();
            assert_eq!(idle % timing.slot, 0);
            slots[(idle / timing.slot) as usize] += 1;
        }
        last_end = exchange.last().map(|ack| ack.start + ack.airtime + config.delay);
    }
    // χ² of as many degrees of freedom as the window: its mean that, its variance twice that.
    let (n, cells) = (slots.iter().sum::<u64>() as f64, slots.len() as f64);
    let chi: f64 = slots.iter().map(|&k| (k as f64 - n / cells).powi(2) / (n / cells)).sum();
    assert!(chi < cells + 4.0 * (2.0 * cells).sqrt(), "{chi} over {slots:?}");
    // What it comes to: 20 s over a mean cycle, within four standard errors of the mean of the slots.
    let fixed: Nanos = times.iter().map(|t| t * US + timing.sifs + config.delay).sum::<Nanos>() - timing.sifs
        + timing.difs();
    let mean = fixed as f64 + f64::from(timing.cw_min) / 2.0 * timing.slot as f64;
    let expected = 20e9 / mean;
    let error = timing.slot as f64 * ((cells * cells - 1.0) / 12.0 / expected).sqrt() / mean;
    let off = delivered as f64 / expected - 1.0;
    assert!(off.abs() < 4.0 * error + 1.0 / expected, "{delivered} delivered, {expected} expected");
}

const EXCHANGE: [Kind; 2] = [Kind::Data, Kind::Ack];

#[test]
fn an_exchange_of_802_11b_takes_what_its_frames_take() {
    let long = MediumConfig::of(Standard::B(Preamble::Long));
    // 1,536 bytes at 11 Mbit/s: 192 + 1,118 µs; the ACK at 2 Mbit/s: 192 + 56 µs.
    is_exact(&long, Rate::Dsss(Dsss::R11), &EXCHANGE, &[1_310, 248]);
    is_exact(&long, Rate::Dsss(Dsss::R1), &EXCHANGE, &[12_480, 304]);
    let short = MediumConfig::of(Standard::B(Preamble::Short));
    is_exact(&short, Rate::Dsss(Dsss::R11), &EXCHANGE, &[1_214, 152]);
}

#[test]
fn an_exchange_of_ofdm_takes_what_its_frames_take() {
    // 12,310 bits: 57 symbols of 54 Mbit/s; the ACK at 24 Mbit/s: 2 symbols.
    is_exact(&MediumConfig::of(Standard::A), Rate::Ofdm(Ofdm::R54), &EXCHANGE, &[248, 28]);
    is_exact(&MediumConfig::of(Standard::A), Rate::Ofdm(Ofdm::R6), &EXCHANGE, &[2_072, 44]);
    let g = MediumConfig::of(Standard::G(Slot::Short));
    is_exact(&g, Rate::Ofdm(Ofdm::R54), &EXCHANGE, &[254, 34]);
}

#[test]
fn an_exchange_of_ht_takes_what_its_frames_take() {
    let n =
        MediumConfig { aggregation: None, ..MediumConfig::of(Standard::N(Band::Ghz5, GuardInterval::Long)) };
    // 1,538 bytes: 48 symbols of MCS 7; the ACK at 24 Mbit/s.
    is_exact(&n, Rate::Ht(Mcs::ALL[7]), &EXCHANGE, &[36 + 192, 28]);
}

#[test]
fn a_request_to_send_goes_ahead_of_what_is_longer_than_the_threshold() {
    let kinds = [Kind::Rts, Kind::Cts, Kind::Data, Kind::Ack];
    let long = MediumConfig { rts_threshold: 1_535, ..MediumConfig::of(Standard::B(Preamble::Long)) };
    // RTS at 2 Mbit/s: 192 + 80 µs; CTS 192 + 56 µs.
    is_exact(&long, Rate::Dsss(Dsss::R11), &kinds, &[272, 248, 1_310, 248]);
    let not = MediumConfig { rts_threshold: 1_536, ..long };
    is_exact(&not, Rate::Dsss(Dsss::R11), &EXCHANGE, &[1_310, 248]);
}

#[test]
fn protection_goes_ahead_of_ofdm() {
    let g = MediumConfig::of(Standard::G(Slot::Long));
    let protection = Some(Protection::CtsToSelf(Rate::Dsss(Dsss::R11)));
    // CTS at 11 Mbit/s with the long preamble: 192 + 11 µs.
    let kinds = [Kind::CtsToSelf, Kind::Data, Kind::Ack];
    // Its answer is its own: no propagation in between, which is 0 here.
    is_exact(&MediumConfig { protection, ..g.clone() }, Rate::Ofdm(Ofdm::R54), &kinds, &[203, 254, 34]);
    let protection = Some(Protection::RtsCts(Rate::Dsss(Dsss::R2)));
    let kinds = [Kind::Rts, Kind::Cts, Kind::Data, Kind::Ack];
    is_exact(&MediumConfig { protection, ..g }, Rate::Ofdm(Ofdm::R54), &kinds, &[272, 248, 254, 34]);
}

#[test]
fn propagation_costs_its_time_in_each_direction() {
    let far = MediumConfig { delay: 700, ..MediumConfig::of(Standard::B(Preamble::Long)) };
    is_exact(&far, Rate::Dsss(Dsss::R11), &EXCHANGE, &[1_310, 248]);
}

#[test]
fn an_aggregate_takes_what_the_airtime_limit_lets_it() {
    let n = MediumConfig::of(Standard::N(Band::Ghz5, GuardInterval::Long));
    let (frames, delivered) = run(&n, Rate::Ht(Mcs::ALL[7]), 10 * SECOND);
    // Subframes of 4 + 1,538 bytes, padded to 1,544. 5.484 ms are 36 µs and 1,362 symbols of 260 bits, 44,262 bytes: 28
    // subframes.
    let full: Vec<_> = frames.iter().filter(|f| f.kind == Kind::Aggregate && f.packets == 28).collect();
    let expected = 36 + 4 * (16 + 6 + 8 * 28 * 1_544u64).div_ceil(260);
    assert!(full.iter().all(|f| f.airtime == expected * US), "{expected}");
    // The first goes alone.
    assert!(full.len() + 1 >= frames.len() / 2, "{} of {}", full.len(), frames.len());
    // A block acknowledgement at 24 Mbit/s: 16 + 256 + 6 bits, 3 symbols: 32 µs. AIFS 43 µs, 7.5 slots of 9 µs.
    let cycle = (expected + 16 + 32 + 43) as f64 + 7.5 * 9.0;
    let packets = 10e6 / cycle * 28.0;
    assert!((delivered as f64 / packets - 1.0).abs() < 0.002, "{delivered} {packets}");
}
