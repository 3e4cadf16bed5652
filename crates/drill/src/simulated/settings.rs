//! What the simulated stack is asked to be: the script's settings in the words of a scenario.

use crate::error::Error;
use crate::target::Refusal;
use truckee_scenario::Document;
use truckee_scenario::model::FlowSettings;
use truckee_tcp::stack::Ecn;

/// MTU of the device that packets go through, less two headers of 20 bytes.
pub const MSS: u16 = 1460;
/// The largest shift of a window (RFC 7323, section 2.3).
const MOST_SCALE: u8 = 14;

/// What ssthresh is before a loss, bytes: more than any window.
pub const NO_SSTHRESH: u64 = 1 << 39;

/// A scenario around the one flow whose settings matter.
const AROUND: &str = r#"
duration = "1s"
profile  = "linux"
topology = { kind = "single-link", rate = "1Gbit/s" }
flow     = [{ name = "drill", from = "src", to = "dst", receiver = { linux = { reads = false } } }]
"#;

/// The options of a stack, before a connection agrees on them.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the congestion control.
    congestion: String,
    /// SACK is offered.
    pub sack: bool,
    /// Timestamps are offered.
    pub timestamps: bool,
    /// Window scaling is offered.
    pub scaling: bool,
    /// ECN is asked for, and granted where the peer asks.
    pub ecn: (Ecn, Ecn),
    /// Bytes of the receiver's window at first, and at most, which decides what it is shifted by.
    pub buffer: u32,
    most: u32,
    /// The buffer grows as it is used.
    tunes: bool,
    /// A silent tail is probed (RFC 8985, section 7).
    probes: bool,
    /// Timeouts are looked at (RFC 5682).
    frto: bool,
    /// What comes twice is reported (RFC 2883).
    dsack: bool,
    /// An idle connection's window comes down.
    restarts: bool,
    /// The longest timeout, ms.
    longest_timeout: u32,
    /// How many times a SYN is sent again before its timeout doubles.
    linear_syn_timeouts: u8,
    /// Several segments are handed over at once.
    offload: bool,
    /// Bytes per second at the most, by which what leaves is spaced, where the application asks for it (SO_MAX_PACING_RATE).
    pub most_pace: Option<u32>,
    /// Small segments do not wait (TCP_NODELAY).
    pub nodelay: bool,
    /// What the caller asked for.
    overrides: Vec<(String, String)>,
}

/// What both ends of a connection have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    /// Payload of a full segment, bytes.
    pub mss: u16,
    /// SACK.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Window scaling.
    pub scaling: bool,
    /// ECN; accurate feedback is agreed on by the endpoints themselves.
    pub ecn: Ecn,
}

impl Settings {
    /// Those of a stack of today, with keys of a flow in place of them where `overrides` has some.
    /// `offload`: it hands over several segments at once.
    pub fn new(overrides: &[(String, String)], offload: bool) -> Self {
        Self {
            congestion: "reno".to_owned(),
            sack: true,
            timestamps: true,
            scaling: true,
            ecn: (Ecn::Off, Ecn::Classic),
            buffer: 65_535,
            most: 6 << 20,
            tunes: true,
            probes: true,
            frto: true,
            dsack: true,
            restarts: true,
            longest_timeout: 120_000,
            linear_syn_timeouts: 4,
            offload,
            most_pace: None,
            nodelay: false,
            overrides: overrides.to_vec(),
        }
    }

    /// Takes a setting of the kernel's, of those that mean something here.
    pub fn take(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let flag = || match value {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(format!("net.ipv4.{name}={value}: expected 0 or 1")),
        };
        match name {
            "tcp_congestion_control" => value.clone_into(&mut self.congestion),
            "tcp_sack" => self.sack = flag()?,
            "tcp_timestamps" => self.timestamps = flag()?,
            "tcp_window_scaling" => self.scaling = flag()?,
            "tcp_ecn" => {
                self.ecn = match value {
                    "0" => (Ecn::Off, Ecn::Off),
                    "1" => (Ecn::Classic, Ecn::Classic),
                    "2" => (Ecn::Off, Ecn::Classic),
                    "3" => (Ecn::Accurate, Ecn::Accurate),
                    "4" => (Ecn::Classic, Ecn::Accurate),
                    "5" => (Ecn::Off, Ecn::Accurate),
                    _ => return Err(format!("net.ipv4.tcp_ecn={value}: expected 0 to 5")),
                }
            }
            "tcp_rmem" => {
                let sizes: Vec<u32> = value.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                let &[_, first, most] = sizes.as_slice() else {
                    return Err(format!("net.ipv4.{name}={value}: expected three sizes in bytes"));
                };
                // Half of the buffer is window, and no first window is above what needs no shift.
                (self.buffer, self.most) = ((first / 2).clamp(1, 65_535), most);
            }
            "tcp_moderate_rcvbuf" => self.tunes = flag()?,
            "tcp_early_retrans" => self.probes = value != "0",
            "tcp_frto" => self.frto = value != "0",
            "tcp_dsack" => self.dsack = flag()?,
            "tcp_slow_start_after_idle" => self.restarts = flag()?,
            "tcp_rto_max_ms" => {
                let longest = value.parse().ok().filter(|ms| (1000..=120_000).contains(ms));
                self.longest_timeout =
                    longest.ok_or_else(|| format!("net.ipv4.{name}={value}: expected 1000 to 120000 ms"))?;
            }
            "tcp_syn_linear_timeouts" => {
                let number = value.parse().ok().filter(|n| *n <= 127);
                let expected = || format!("net.ipv4.{name}={value}: expected a whole number from 0 to 127");
                self.linear_syn_timeouts = number.ok_or_else(expected)?;
            }
            // There is no option beside the counter; what an application writes is always taken, and nothing is remembered from one connection to the next.
            "tcp_ecn_option" | "tcp_wmem" | "tcp_no_metrics_save" => {}
            _ => {
                let known = "tcp_congestion_control, tcp_sack, tcp_timestamps, tcp_window_scaling, tcp_ecn, tcp_ecn_option (of no effect), tcp_rmem, tcp_wmem, tcp_moderate_rcvbuf, tcp_early_retrans, tcp_frto, tcp_dsack, tcp_slow_start_after_idle, tcp_rto_max_ms, tcp_syn_linear_timeouts, tcp_no_metrics_save";
                return Err(format!("the simulated stack has no setting net.ipv4.{name}; it has {known}"));
            }
        }
        Ok(())
    }

    /// Sets the congestion control of the connections to come.
    pub fn set_congestion(&mut self, name: &str) {
        name.clone_into(&mut self.congestion);
    }

    /// By how much the window that is offered is shifted: as little as its largest value allows.
    pub fn scale(&self) -> u8 {
        (0..MOST_SCALE).find(|&shift| self.buffer.max(self.most) >> shift <= 65_535).unwrap_or(MOST_SCALE)
    }

    /// Sets the receiver's buffer of the connections to come, which then does not grow.
    pub fn set_buffer(&mut self, bytes: u32) {
        (self.buffer, self.most, self.tunes) = (bytes, bytes, false);
    }

    /// What a connection is made of that has agreed on this.
    pub fn flow(&self, agreed: Agreed) -> Result<FlowSettings, Error> {
        let mut document = Document::parse("the simulated stack", AROUND)?;
        // Of the profile but for what the connection or the script leaves out of it.
        let repair = match (agreed.sack, self.probes && self.frto) {
            (true, true) => None,
            (true, false) => Some(format!(
                "{{ rack = {{ tlp = {}, reduction = \"proportional\", count = \"segments\", echo = \"proportional\", last_ack = \"grows\", frto = {} }} }}",
                self.probes, self.frto
            )),
            (false, _) => Some(
                "{ newreno = { reduction = \"proportional\", count = \"segments\", last_ack = \"grows\" } }"
                    .to_owned(),
            ),
        };
        // Linux counts what an ACK covers (tcp_slow_start).
        let preset = match self.congestion.as_str() {
            "reno" => "sack\", growth = \"linux",
            "cubic" => "cubic-linux",
            "bbr" => "bbr1",
            name => name,
        };
        let repair = repair.map_or(String::new(), |repair| format!(", recovery = {repair}"));
        let pacing = self.most_pace.map_or(String::new(), |most| {
            format!(", pacing = {{ linux = {{ most = \"{}bit/s\" }} }}", 8 * u64::from(most))
        });
        let sender = format!("{{ preset = \"{preset}\"{repair}{pacing} }}");
        document.set("flow.sender", &sender)?;
        // The model of the window's tuning begins with half of the 131,072 bytes of the defaults.
        let tuned = self.tunes && self.buffer == 65_535 && self.most > 131_072;
        let (window, tuning) = if tuned { (self.most / 2, "linux") } else { (self.buffer, "off") };
        document.set("flow.rwnd", &format!("{window}B"))?;
        document.set("flow.rwnd_autotuning", tuning)?;
        // Until a loss has set it, ssthresh is no bound.
        document.set("flow.initial_ssthresh", &format!("{NO_SSTHRESH}B"))?;
        document.set("flow.linear_syn_timeouts", &self.linear_syn_timeouts.to_string())?;
        // What leaves is away at once, as behind a TUN device: no queue of the host's is told of, but the pace is known.
        document.set("flow.small_queues", "true")?;
        document.set("flow.tso", if self.offload { "true" } else { "false" })?;
        if !self.restarts {
            document.set("flow.after_idle", "keep")?;
        }
        document.set("flow.max_rto", &format!("{}ms", self.longest_timeout))?;
        let dsack = agreed.sack && self.dsack;
        let undo = match (agreed.timestamps, dsack) {
            (true, true) => "either",
            (true, false) => "timestamps",
            (false, true) => "dsack",
            (false, false) => "never",
        };
        document.set("flow.undo", undo)?;
        document.set("flow.dsack", if dsack { "true" } else { "false" })?;
        document.set("flow.mss", &agreed.mss.to_string())?;
        for (key, flag) in [("timestamps", agreed.timestamps), ("window_scaling", agreed.scaling)] {
            document.set(&format!("flow.{key}"), if flag { "true" } else { "false" })?;
        }
        let ecn = match agreed.ecn {
            Ecn::Off => "false",
            Ecn::Classic => "true",
            Ecn::Accurate => "\"accurate\"",
        };
        document.set("flow.ecn", ecn)?;
        for (path, value) in &self.overrides {
            document.set(path, value)?;
        }
        let scenario = document.scenario()?;
        Ok((*scenario.flows[0].settings).clone())
    }
}
