//! What the simulated stack is asked to be: the script's settings in the words of a scenario.

use crate::error::Error;
use crate::target::Refusal;
use truckee_scenario::Document;
use truckee_scenario::model::FlowSettings;

/// MTU of the device that packets go through, less two headers of 20 bytes.
pub const MSS: u16 = 1460;
/// The largest shift of a window (RFC 7323, section 2.3).
const MOST_SCALE: u8 = 14;

/// A scenario around the one flow whose settings matter.
const AROUND: &str = r#"
duration = "1s"
topology = { kind = "single-link", rate = "1Gbit/s" }
flow     = [{ name = "drill", from = "src", to = "dst" }]
"#;

/// What a stack of today has where a script says nothing: ten segments at first (RFC 6928), 200 ms at least until a timeout
/// and 40 ms until an ACK that is held (Linux, TCP_RTO_MIN and TCP_DELACK_MIN), limited transmit (RFC 3042).
const TODAY: [(&str, &str); 5] = [
    ("flow.initial_window", "10segments"),
    ("flow.min_rto", "200ms"),
    ("flow.limited_transmit", "true"),
    ("flow.dsack", "true"),
    ("flow.receiver", "{ delayed = { timeout = \"40ms\" } }"),
];

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
    pub ecn: (bool, bool),
    /// Bytes of the receiver's window at first, and at most, which decides what it is shifted by.
    pub buffer: u32,
    most: u32,
    /// A silent tail is probed (RFC 8985, section 7).
    probes: bool,
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
    /// ECN.
    pub ecn: bool,
}

impl Settings {
    /// Those of a stack of today, with keys of a flow in place of them where `overrides` has some.
    pub fn new(overrides: &[(String, String)]) -> Self {
        Self {
            congestion: "reno".to_owned(),
            sack: true,
            timestamps: true,
            scaling: true,
            ecn: (false, true),
            buffer: 65_535,
            most: 6 << 20,
            probes: true,
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
                    "0" => (false, false),
                    "1" => (true, true),
                    "2" => (false, true),
                    _ => return Err(format!("net.ipv4.tcp_ecn={value}: expected 0, 1 or 2")),
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
            "tcp_early_retrans" => self.probes = value != "0",
            "tcp_syn_linear_timeouts" if value == "0" => {}
            // What an application writes is always taken, and nothing is remembered from one connection to the next.
            "tcp_wmem" | "tcp_no_metrics_save" => {}
            _ => {
                let known = "tcp_congestion_control, tcp_sack, tcp_timestamps, tcp_window_scaling, tcp_ecn, tcp_rmem, tcp_wmem, tcp_early_retrans, tcp_syn_linear_timeouts (0), tcp_no_metrics_save";
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
        (self.buffer, self.most) = (bytes, bytes);
    }

    /// What a connection is made of that has agreed on this.
    pub fn flow(&self, agreed: Agreed) -> Result<FlowSettings, Error> {
        let mut document = Document::parse("the simulated stack", AROUND)?;
        // What Linux has: RACK-TLP, PRR and F-RTO.
        let repair = match agreed.sack {
            true => {
                format!("{{ rack = {{ tlp = {}, reduction = \"proportional\", frto = true }} }}", self.probes)
            }
            false => "\"newreno\"".to_owned(),
        };
        let preset = match self.congestion.as_str() {
            // Linux counts what an ACK covers (tcp_slow_start).
            "reno" => "newreno\", growth = \"byte-counting",
            name => name,
        };
        let sender = format!("{{ preset = \"{preset}\", recovery = {repair} }}");
        document.set("flow.sender", &sender)?;
        for (path, value) in TODAY {
            document.set(path, value)?;
        }
        document.set("flow.rwnd", &format!("{}B", self.buffer))?;
        if agreed.sack || agreed.timestamps {
            document.set("flow.undo", if agreed.timestamps { "either" } else { "dsack" })?;
        }
        document.set("flow.mss", &agreed.mss.to_string())?;
        for (key, flag) in
            [("timestamps", agreed.timestamps), ("window_scaling", agreed.scaling), ("ecn", agreed.ecn)]
        {
            document.set(&format!("flow.{key}"), if flag { "true" } else { "false" })?;
        }
        for (path, value) in &self.overrides {
            document.set(path, value)?;
        }
        let scenario = document.scenario()?;
        Ok((*scenario.flows[0].settings).clone())
    }
}
