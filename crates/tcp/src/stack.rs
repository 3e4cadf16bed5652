//! The settings of a TCP stack that are not algorithms: sizes, timers, options. Defaults are those of the papers' era
//! where the papers agree and of the RFCs otherwise.

pub use crate::ecn::Ecn;
pub use crate::wheel::Timers;

use crate::Span;
use crate::wheel::Wheel;

/// A window or buffer given in bytes or in segments of the MSS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Bytes.
    Bytes(u64),
    /// Segments; need not be whole.
    Segments(f64),
}

impl Size {
    /// In bytes, for segments of `mss` bytes.
    pub fn bytes(self, mss: u32) -> u64 {
        match self {
            Size::Bytes(b) => b,
            Size::Segments(n) => libm::round(n * f64::from(mss)) as u64,
        }
    }
}

/// What a loss event takes its share of: what responses see as [`crate::Window::flight`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReduceFrom {
    /// What is in flight (FlightSize; RFC 5681, equation 4).
    #[default]
    Flight,
    /// The congestion window, less what a repair has inflated it by, or the receiver's window where that is smaller (4.3BSD;
    /// ns-2, `TcpAgent::slowdown`).
    Window,
}

/// Which segments are timed for the retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RtoSamples {
    /// Every ACK of a segment sent once is a sample (RFC 6298, section 3, allows it; Linux).
    #[default]
    EveryAck,
    /// Each ACK that newly acknowledges what was sent once, or else reports it, from when the first of it left, and from the
    /// timestamp that it echoes, in whole milliseconds, where there is none of that (Linux 6.18, `tcp_ack_update_rtt`).
    Departures,
    /// One segment at a time is timed, so about one in a window (RFC 6298, section 3: at least one a round trip; 4.3BSD; ns-2,
    /// `rtt_active_`). Anything sent again stops the clock.
    OneAWindow,
}

impl RtoSamples {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::EveryAck, Self::Departures, Self::OneAWindow];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EveryAck => "every-ack",
            Self::Departures => "departures",
            Self::OneAWindow => "one-a-window",
        }
    }
}

/// How the timeout follows from the round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RtoVariance {
    /// SRTT + 4·RTTVAR, and never below the least timeout (RFC 6298).
    #[default]
    Rfc,
    /// SRTT + the largest mean deviation of a round, that never below the least timeout (Linux 6.18, `tcp_rtt_estimator`).
    Linux,
}

impl RtoVariance {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Rfc, Self::Linux];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::Linux => "linux",
        }
    }
}

/// What tells whether a window is used, where only one that is may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowValidation {
    /// What is in flight when an ACK comes, and in slow start when the first of its round came.
    #[default]
    Flight,
    /// Whether the last departures filled it; and a window that the application leaves unused for a timeout comes down (RFC
    /// 2861, section 3.2; Linux 6.18, `tcp_cwnd_validate`, `tcp_cwnd_application_limited`).
    Linux,
}

impl WindowValidation {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::Flight, Self::Linux];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flight => "flight",
            Self::Linux => "linux",
        }
    }
}

/// What becomes of the window where nothing was sent for longer than a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterIdle {
    /// The initial window, if that is less (RFC 5681, section 4.1).
    #[default]
    Restart,
    /// Half of it for each timeout that has passed, no less than the initial window; ssthresh remembers three quarters (RFC
    /// 2861, section 3.2; Linux 6.18, `tcp_cwnd_restart`).
    Decay,
    /// It stays.
    Keep,
}

impl AfterIdle {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::Restart, Self::Decay, Self::Keep];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Decay => "decay",
            Self::Keep => "keep",
        }
    }
}

/// What may show that a loss event was none, so that what it did to the window is undone (RFC 4015).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undo {
    /// Nothing.
    #[default]
    Never,
    /// The timestamp that the ACK of the segment echoes (RFC 3522).
    Timestamps,
    /// A report that all that was sent again has come twice (RFC 3708).
    Dsack,
    /// Either of them; reports are counted as Linux 6.18 counts them (`tcp_check_dsack`).
    Either,
}

impl Undo {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Never, Self::Timestamps, Self::Dsack, Self::Either];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Timestamps => "timestamps",
            Self::Dsack => "dsack",
            Self::Either => "either",
        }
    }

    /// Whether timestamps are looked at.
    pub fn by_timestamps(self) -> bool {
        matches!(self, Self::Timestamps | Self::Either)
    }

    /// Whether duplicate SACKs are.
    pub fn by_dsack(self) -> bool {
        matches!(self, Self::Dsack | Self::Either)
    }
}

/// How the receive window follows what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Autotuning {
    /// It is the whole buffer from the beginning.
    #[default]
    Off,
    /// It begins at some 64 KB and grows up to the buffer with what is taken in within a round trip (Linux 6.18,
    /// `tcp_rcv_space_adjust`).
    Linux,
    /// The same as Linux 6.1 has it: the round-trip time is smoothed, sixteen segments are added, and there is no room beside for
    /// what lies beyond a hole.
    Linux61,
}

impl Autotuning {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::Off, Self::Linux, Self::Linux61];

    /// Its name in a scenario.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Linux => "linux",
            Self::Linux61 => "linux-6.1",
        }
    }
}

/// Settings of both ends of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    /// Maximum segment size: payload of a full segment, bytes.
    pub mss: u32,
    /// Initial congestion window (RFC 5681, section 3.1).
    pub initial_window: Size,
    /// Initial slow-start threshold; `None`: the receiver's window.
    pub initial_ssthresh: Option<Size>,
    /// Lower bound of the retransmission timeout (RFC 6298, rule 2.4).
    pub min_rto: Span,
    /// Upper bound of the retransmission timeout (RFC 6298, rule 2.5).
    pub max_rto: Span,
    /// Retransmission timeout before the first RTT sample (RFC 6298, rule 2.1).
    pub initial_rto: Span,
    /// Clock granularity G: RTT samples are whole ticks of it, and timeouts fall on ticks. 0: exact.
    pub clock: Span,
    /// The timestamps option (RFC 7323): RTT samples from every ACK, also of retransmissions.
    pub timestamps: bool,
    /// Which segments are timed for the timeout.
    pub rto_samples: RtoSamples,
    /// The tick that the timeout is counted in: samples are the ticks crossed, at least one, SRTT is kept in eighths and RTTVAR in
    /// quarters of a tick, and SRTT + 4·RTTVAR in whole ones (4.3BSD; ns-2, `tcpTick_`). 0: exact. Unlike with `clock` no
    /// other part of the sender sees the tick, and the timer goes off at any time.
    pub rto_tick: Span,
    /// What a loss event takes its share of.
    pub reduce_from: ReduceFrom,
    /// Whether a loss event leaves ssthresh at whole segments, rounded down, two at least, while a window that was halved stays at
    /// its exact half, and may come down to one (ns-2, `TcpAgent::slowdown`: `ssthresh_` is an integer, `cwnd_` is not).
    pub whole_ssthresh: bool,
    /// Whether a segment that times out again lowers ssthresh again, which by then is two segments (ns-2); RFC 5681, section
    /// 3.1, keeps it as the first timeout left it.
    pub repeated_reduction: bool,
    /// Whether only a window that is used may grow (RFC 7661's concern); without, every ACK of new data opens it (RFC 2581;
    /// ns-2, `control_increase_` 0).
    pub validate_window: bool,
    /// What tells whether it is.
    pub window_validation: WindowValidation,
    /// Whether a timeout lowers ssthresh, of what is in the air, where a repair or an echo of congestion has lowered it already
    /// and what was sent before is not acknowledged (RFC 5681, equation 4); Linux keeps it (6.18, `tcp_enter_loss`).
    pub reduce_in_repair: bool,
    /// The receiver's buffer, which it advertises whole, or may come to: its application reads at once.
    pub rwnd: Size,
    /// How the receive window follows what comes.
    pub rwnd_autotuning: Autotuning,
    /// Window scaling (RFC 7323); without it no window above 65,535 bytes can be advertised.
    pub window_scaling: bool,
    /// Bytes the sender may hold unacknowledged; `None`: no limit but the windows.
    pub send_buffer: Option<Size>,
    /// Limited transmit (RFC 3042): the first two duplicate ACKs each release a new segment.
    pub limited_transmit: bool,
    /// Whether limited transmit also releases what a go-back is to send again (ns-2, `TcpAgent::send_one`); RFC 3042 speaks of
    /// new segments.
    pub limited_resends: bool,
    /// Whether the receiver reports what has come twice (D-SACK, RFC 2883), where it sends SACK blocks.
    pub dsack: bool,
    /// How the timeout follows from the round-trip times.
    pub rto_variance: RtoVariance,
    /// What becomes of the window where nothing was sent for longer than a timeout.
    pub after_idle: AfterIdle,
    /// What may show the sender that a loss event was none.
    pub undo: Undo,
    /// Whether a SYN-ACK that nothing acknowledges is sent again by a timer of its own (RFC 9293, section 3.8.1; RFC 6298), and
    /// not only where the SYN comes again.
    pub syn_ack_timer: bool,
    /// Whether segments leave in bursts as Linux's offload makes them: as many as the pace sends in a millisecond (Linux 6.18,
    /// `tcp_tso_autosize`), and none yet where waiting for the next ACK makes a fuller one (`tcp_tso_should_defer`).
    pub tso: bool,
    /// Whether a sender keeps no more than a millisecond of its pace, or two bursts, in the host's own queue (TCP small queues; Linux
    /// 6.18, `tcp_small_queue_check`); its driver says how long what leaves lies there ([`crate::Sender::note_queued`]).
    pub small_queues: bool,
    /// Which timers the host has.
    pub timers: Timers,
    /// How long they had been counting when the run began: where their ticks lie.
    pub timers_age: Span,
    /// How many times a SYN that times out is sent again without the timeout's doubling (Linux from 6.5 on,
    /// `tcp_syn_linear_timeouts`); 0: never (RFC 6298, rule 5.5).
    pub linear_syn_timeouts: u8,
    /// Explicit congestion notification, as both ends want it.
    pub ecn: Ecn,
    /// Whether the sender takes its segment size from the smallest part of a segment that an ACK covers (see
    /// [`crate::sender::MIN_SEGMENT`]); no receiver but one that divides its ACKs can tell the difference.
    pub segment_from_acks: bool,
    /// How many segments the sender asks an ACK to cover (draft-ietf-tcpm-ack-rate-request), 1 to 127; 0: it does not
    /// ask. Only a receiver of the policy [`Requested`](crate::ack::Requested) obeys.
    pub ack_rate_request: u8,
    /// Whether the connection is opened by SYN and closed by FIN; without, it is there at once, as in ns-2.
    pub handshake: bool,
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            mss: 1460,
            initial_window: Size::Segments(2.0),
            initial_ssthresh: None,
            min_rto: Span::s(1),
            max_rto: Span::s(64),
            initial_rto: Span::s(1),
            clock: Span::ZERO,
            timestamps: false,
            rto_samples: RtoSamples::EveryAck,
            rto_tick: Span::ZERO,
            reduce_from: ReduceFrom::Flight,
            whole_ssthresh: false,
            repeated_reduction: false,
            validate_window: true,
            window_validation: WindowValidation::Flight,
            reduce_in_repair: true,
            rwnd: Size::Bytes(16 << 20),
            rwnd_autotuning: Autotuning::Off,
            window_scaling: true,
            send_buffer: None,
            limited_transmit: false,
            limited_resends: false,
            dsack: false,
            undo: Undo::Never,
            syn_ack_timer: false,
            linear_syn_timeouts: 0,
            timers: Timers::Exact,
            timers_age: Span::ZERO,
            rto_variance: RtoVariance::Rfc,
            after_idle: AfterIdle::Restart,
            tso: false,
            small_queues: false,
            ecn: Ecn::Off,
            segment_from_acks: false,
            ack_rate_request: 0,
            handshake: true,
        }
    }
}

impl Stack {
    /// Its timer wheel, if it has one.
    pub fn wheel(&self) -> Option<Wheel> {
        (self.timers == Timers::Linux).then(|| Wheel::aged(self.timers_age))
    }

    /// The window the receiver advertises in the beginning, bytes: where it is tuned, what fits into the field of a SYN-ACK, in
    /// whole segments (Linux, `tcp_select_initial_window`).
    pub fn first_window(&self) -> u32 {
        let most = self.advertised_window();
        match self.rwnd_autotuning {
            Autotuning::Off => most,
            _ => {
                let first = most.min(u32::from(u16::MAX));
                if first > self.mss { first / self.mss * self.mss } else { first }
            }
        }
    }

    /// The window the receiver advertises, or comes to advertise at the most, bytes.
    pub fn advertised_window(&self) -> u32 {
        let limit = if self.window_scaling { u64::from(u16::MAX) << 14 } else { u64::from(u16::MAX) };
        self.rwnd.bytes(self.mss).min(limit) as u32
    }
}
