//! What a medium and its stations are told.

use crate::error::between;
use crate::mac::RateControl;
use crate::phy::{Rate, Standard, Timing};
use crate::{ConfigError, Position, Propagation, Span};

/// A station, by its place in the list that the medium was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Who a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Destination {
    /// One station.
    Node(NodeId),
    /// Whoever hears it: sent once, at the lowest basic rate, never acknowledged. A client's goes to its access point,
    /// which sends it on to everyone.
    Everyone,
}

/// A packet that is handed to a station to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The caller's name for it, by which everything about it is reported.
    pub id: u64,
    /// What the network layer sends: the IP packet. Headers of the medium are added.
    pub bytes: u32,
    /// The next station: a client may name any station of its cell, its access point sends it on.
    pub to: Destination,
}

/// What goes ahead of frames of OFDM or HT in the 2.4 GHz band so that stations of 802.11b keep quiet (10.26).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// A CTS to itself at this rate.
    CtsToSelf(Rate),
    /// RTS and CTS at this rate, whatever the threshold.
    RtsCts(Rate),
}

/// Aggregation of frames to one destination (A-MPDU, 9.7) under an immediate block acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregation {
    /// Frames at most; up to 64, the window of the compressed bitmap.
    pub frames: u32,
    /// Bytes at most; up to 65,535.
    pub bytes: u32,
    /// Time on the air at most; 5.484 ms is what the L-SIG field can say.
    pub airtime: Span,
    /// What follows a block acknowledgement that did not come: a request for it, as ns-3 has it, or, if this is false,
    /// all the packets again at once, as Linux' ath9k does. The standard leaves it open (10.24.7.7).
    pub asks: bool,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { frames: 64, bytes: 65_535, airtime: Span::us(5_484), asks: false }
    }
}

/// The medium. [`MediumConfig::of`] has a standard's values; all may be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct MediumConfig {
    /// What frames look like, and which rates there are.
    pub standard: Standard,
    /// Slot, spaces, window.
    pub timing: Timing,
    /// Rates that everybody understands: control frames and those for everyone go at them.
    pub basic_rates: Vec<Rate>,
    /// Between the antennas.
    pub propagation: Propagation,
    /// How long a frame is under way, between any two stations alike: a cell of 300 m has 1 µs. One for all, so that
    /// a frame begins and ends everywhere at once, at the cost of one event and not one for each station; it has to be
    /// below half a slot, as the standard's slot presumes.
    pub delay: Span,
    /// Noise in the receiver, its noise figure included, in dBm.
    pub noise: f64,
    /// The receive threshold, in dBm: weaker frames are not begun to be read.
    pub sensitivity: f64,
    /// The carrier-sense threshold, in dBm: the medium is busy while the power of all that arrives is at least this, and
    /// while a frame is being read or sent.
    pub carrier_sense: f64,
    /// The signal-to-interference-and-noise ratio in dB that the beginning of a frame, up to the end of its header,
    /// needs to be noticed and followed.
    pub preamble: f64,
    /// By how many dB a later frame has to be above all else for a receiver to leave the one that it is reading and turn
    /// to it; none: it stays with the first.
    pub capture: Option<f64>,
    /// What arrives with less power than this, in dBm, is not there: it neither interferes nor makes busy. A frame costs
    /// the simulation nothing at stations out of this reach.
    pub ignored: f64,
    /// Headers and FCS that are added to a packet, in bytes.
    pub overhead: u32,
    /// Frames of data longer than this, in bytes with headers, are preceded by RTS and CTS (dot11RTSThreshold). Frames
    /// longer than this also go by the long retry limit.
    pub rts_threshold: u32,
    /// Whether the allocation vector that an RTS sets is void if nothing follows the RTS, which 10.3.2.4 allows.
    pub voids_requests: bool,
    /// Attempts of a frame up to the threshold, and of RTS (dot11ShortRetryLimit); none: without end.
    pub short_retries: Option<u32>,
    /// Attempts of a frame beyond it (dot11LongRetryLimit); none: without end.
    pub long_retries: Option<u32>,
    /// Ahead of frames of OFDM and HT.
    pub protection: Option<Protection>,
    /// Of 802.11n alone.
    pub aggregation: Option<Aggregation>,
    /// Whether each frame is reported, and not only what becomes of packets.
    pub frames: bool,
}

impl MediumConfig {
    /// The standard's values; of a receiver with a noise figure of 7 dB which reads what is above the noise and senses
    /// carriers down to where it reads; capture at 10 dB; no RTS; 802.11n aggregates.
    pub fn of(standard: Standard) -> Self {
        // −174 dBm/Hz at 290 K.
        let noise = -174.0 + 10.0 * libm::log10(standard.bandwidth()) + 7.0;
        let frequency = match standard {
            Standard::A | Standard::N(crate::phy::Band::Ghz5, _) => 5.18e9,
            _ => 2.412e9,
        };
        Self {
            standard,
            timing: Timing::of(standard),
            basic_rates: standard.basic_rates(),
            propagation: Propagation { frequency, ..Propagation::default() },
            delay: Span::ZERO,
            noise,
            sensitivity: -92.0,
            carrier_sense: -92.0,
            preamble: 4.0,
            capture: Some(10.0),
            ignored: noise - 10.0,
            overhead: standard.overhead(),
            rts_threshold: u32::MAX,
            voids_requests: true,
            short_retries: Some(7),
            long_retries: Some(4),
            protection: None,
            aggregation: matches!(standard, Standard::N(..)).then(Aggregation::default),
            frames: false,
        }
    }

    /// How far packets of `bytes` bytes reach at a rate, sent with `power` dBm: metres at which one frame in ten is lost to
    /// noise, by path loss alone; less if the receive threshold is nearer.
    pub fn range(&self, power: f64, rate: Rate, bytes: u32) -> f64 {
        self.propagation.range(power, self.needed(rate, bytes))
    }

    /// The power in dBm at which packets of `bytes` bytes have to arrive so that one frame in ten is lost to noise at a
    /// rate; the receive threshold if that is more.
    pub fn needed(&self, rate: Rate, bytes: u32) -> f64 {
        let ratio = crate::phy::needed_ratio(rate.modulation(), bytes.saturating_add(self.overhead), 0.1);
        (self.noise + ratio.max(self.preamble)).max(self.sensitivity)
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.propagation.check()?;
        let t = &self.timing;
        between("slot in ns", t.slot.as_f64(), 1.0, 1e9)?;
        between("SIFS in ns", t.sifs.as_f64(), 1.0, 1e9)?;
        between("AIFSN", f64::from(t.aifsn), 1.0, 15.0)?;
        between("CWmax in slots", f64::from(t.cw_max), f64::from(t.cw_min), 32_767.0)?;
        between(
            "time an answer is waited for in ns",
            t.answer.as_f64(),
            (t.sifs + Span::ns(1)).as_f64(),
            1e9,
        )?;
        between("EIFS in ns", t.eifs.as_f64(), t.difs().as_f64(), 1e9)?;
        // What is under way when an answer is given up would be a second transmission's business.
        let most = (t.slot / 2).min((t.answer - t.sifs - Span::ns(1)) / 2);
        between("propagation delay in ns", self.delay.as_f64(), 0.0, most.as_f64())?;
        between("noise in dBm", self.noise, -200.0, 100.0)?;
        between("receive threshold in dBm", self.sensitivity, -200.0, 100.0)?;
        between("carrier-sense threshold in dBm", self.carrier_sense, -200.0, 100.0)?;
        between(
            "power that is ignored in dBm",
            self.ignored,
            -250.0,
            self.sensitivity.min(self.carrier_sense),
        )?;
        between("preamble's ratio in dB", self.preamble, -20.0, 100.0)?;
        if let Some(capture) = self.capture {
            between("capture's ratio in dB", capture, self.preamble, 100.0)?;
        }
        between("overhead in bytes", f64::from(self.overhead), 0.0, 1e4)?;
        for (place, limit) in
            [("short retry limit", self.short_retries), ("long retry limit", self.long_retries)]
        {
            between(place, f64::from(limit.unwrap_or(1)), 1.0, 1e6)?;
        }
        if self.basic_rates.is_empty() {
            return Err(ConfigError::new("basic rates", "none", "one rate or more"));
        }
        if let Some(rate) = self.basic_rates.iter().find(|r| matches!(r, Rate::Ht(_))) {
            return Err(ConfigError::new("basic rates", rate, "a rate of DSSS or OFDM"));
        }
        if let Some(Aggregation { frames, bytes, airtime, .. }) = self.aggregation {
            if !matches!(self.standard, Standard::N(..)) {
                let expected = "possible but in 802.11n";
                return Err(ConfigError::new("aggregation", format!("{:?}", self.standard), expected));
            }
            between("aggregation's frames", f64::from(frames), 1.0, 64.0)?;
            between("aggregation's bytes", f64::from(bytes), 1.0, 65_535.0)?;
            between("aggregation's airtime in ns", airtime.as_f64(), 1e5, 1e7)?;
        }
        Ok(())
    }
}

/// What a station is in its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// It sends to whom it will (IBSS).
    #[default]
    AdHoc,
    /// It sends on what its clients send to each other.
    AccessPoint,
    /// It sends everything to this access point.
    Client(NodeId),
}

/// A station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationConfig {
    /// Where it is at first.
    pub position: Position,
    /// Power at the antenna, in dBm.
    pub power: f64,
    /// In its cell.
    pub role: Role,
    /// Which rate data goes at.
    pub rate: RateControl,
    /// Packets that wait to be sent, at most, besides those that are being sent: the interface queue. Who has a queue of
    /// his own sets few (one, or an aggregate's frames) and offers when [`crate::Report::Room`] says so.
    pub queue: usize,
}

impl StationConfig {
    /// A station in ad hoc mode with 50 packets of queue, sending with 15 dBm.
    pub fn at(position: Position, rate: RateControl) -> Self {
        Self { position, power: 15.0, role: Role::AdHoc, rate, queue: 50 }
    }

    pub(crate) fn check(&self, number: usize, all: &[StationConfig]) -> Result<(), ConfigError> {
        let place = |what: &str| format!("station {number}'s {what}");
        if !self.position.is_finite() {
            return Err(ConfigError::new(place("position"), format!("{:?}", self.position), "finite"));
        }
        between(&place("power in dBm"), self.power, -100.0, 100.0)?;
        between(&place("queue"), self.queue as f64, 1.0, 1e6)?;
        if let Role::Client(NodeId(of)) = self.role {
            let is_there = all.get(of as usize).is_some_and(|s| s.role == Role::AccessPoint);
            if !is_there {
                return Err(ConfigError::new(place("access point"), of, "an access point"));
            }
        }
        Ok(())
    }
}
