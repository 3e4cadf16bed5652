//! One connection of the simulated stack.

use super::ending::{Ending, refusal, reset};
use super::settings::{Agreed, NO_SSTHRESH, Settings};
use super::wire::{Offer, Wire};
use crate::error::Error;
use crate::script::{Ecn, Packet, bits};
use crate::target::{Info, Seen};
use std::collections::VecDeque;
use truckee_scenario::model::FlowSettings;
use truckee_tcp::acceptability::{Arriving, Expected, Strays, Verdict};
use truckee_tcp::ack::AnyAckPolicy;
use truckee_tcp::controller::AnyController;
use truckee_tcp::growth::AnyGrowth;
use truckee_tcp::outstanding::marks;
use truckee_tcp::pace::AnyPacing;
use truckee_tcp::recovery::AnyRecovery;
use truckee_tcp::response::AnyResponse;
use truckee_tcp::sender::{Parts, State};
use truckee_tcp::start::AnyStart;
use truckee_tcp::{Arg, Books, Endpoint, LossKind, Sender, Seq, Span, Spec, Stack, Time, flags};

/// Both halves of one end, and how they are written.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    books: Books,
    wire: Wire,
    mss: u16,
    /// When this end opened it, and when its timer has gone off since: an offer that is answered is made anew, with what was
    /// agreed on, and has the same past.
    opening: Option<Vec<Time>>,
    /// Where a segment that ends there, or goes beyond, is pushed.
    written: Vec<Seq>,
    /// The largest window that the peer has offered, bytes; that of a SYN does not count, that of a SYN-ACK does.
    most_window: u64,
    /// What has been handed to the application, and what it has read.
    delivered: u64,
    read: u64,
    /// The kind of the last loss event, what had been sent by then, and how many had been none.
    loss: Option<(LossKind, Seq, u64)>,
    ended: Option<Ending>,
    closing: Option<Closing>,
    strays: Strays,
}

/// The application has closed its way.
#[derive(Debug, Clone, Copy)]
struct Closing {
    /// It reads no more, either.
    both: bool,
    /// The peer had closed before.
    second: bool,
}

fn endpoint(settings: &Settings, agreed: Agreed) -> Result<Endpoint, Error> {
    let flow = settings.flow(agreed)?;
    let policy = AnyAckPolicy::build(&flow.receiver)?.0;
    let stack = Stack { handshake: true, ..flow.stack.clone() };
    let mut endpoint = Endpoint::both(&stack, parts(&flow)?, policy, agreed.sack);
    if let Some(tx) = endpoint.tx_mut() {
        tx.set_nagle(!settings.nodelay);
    }
    Ok(endpoint)
}

fn parts(flow: &FlowSettings) -> Result<Parts, Error> {
    let sender = &flow.sender;
    let controller = match &sender.controller {
        Some(controller) => AnyController::build(controller)?.0,
        None => AnyController::of_parts(
            AnyGrowth::build(&sender.growth)?.0,
            AnyResponse::build(&sender.response)?.0,
            AnyPacing::build(&sender.pacing)?.0,
        ),
    };
    Ok(Parts {
        recovery: AnyRecovery::build(&sender.recovery)?.0,
        controller,
        start: AnyStart::build(&sender.start)?.0,
    })
}

impl Connection {
    fn with(endpoint: Endpoint, wire: Wire, mss: u16) -> Self {
        Self {
            endpoint,
            books: Books::default(),
            wire,
            mss,
            opening: None,
            written: Vec::new(),
            most_window: 0,
            delivered: 0,
            read: 0,
            loss: None,
            ended: None,
            closing: None,
            strays: Strays::default(),
        }
    }

    /// One that this end begins.
    pub fn open(settings: &Settings, now: Time) -> Result<Self, Error> {
        let wire = Wire::new(Offer::of(settings));
        // Who asks in the words of RFC 3168 does so on the wire; the endpoint asks for accurate feedback itself.
        let classic = wire.ours.ecn == truckee_tcp::stack::Ecn::Classic;
        let whole =
            if classic { Offer { ecn: truckee_tcp::stack::Ecn::Off, ..wire.ours } } else { wire.ours };
        let mut made = Self::with(endpoint(settings, whole.agreed(whole))?, wire, whole.mss);
        made.opening = Some(vec![now]);
        made.endpoint.open(now, &mut made.books);
        Ok(made)
    }

    /// One that the peer's SYN begins.
    pub fn accept(settings: &Settings, syn: &Packet, now: Time) -> Result<Self, Error> {
        let theirs = Offer::read(syn);
        let mut wire = Wire::new(Offer::answer(settings, theirs));
        let agreed = wire.meet(theirs, syn.seq);
        let mut made = Self::with(endpoint(settings, agreed)?, wire, agreed.mss);
        made.endpoint.listen(now, &mut made.books);
        made.hear(syn, now);
        Ok(made)
    }

    /// A segment comes; what is answered at once goes `into`.
    pub fn on_packet(
        &mut self,
        settings: &Settings,
        packet: &Packet,
        now: Time,
        into: &mut VecDeque<Seen>,
    ) -> Result<(), Error> {
        let wrong = packet.ack.is_some_and(|ack| ack != Seq::FIRST.on_wire());
        let greeting = packet.has(bits::SYN) && !packet.has(bits::ACK);
        if self.ended.is_some() || self.meeting() && wrong {
            // RFC 9293, section 3.5.2, groups 1 and 2.
            into.extend(refusal(packet).map(|packet| Seen { at: now, packet }));
            return Ok(());
        }
        if self.opening.is_some() {
            if packet.has(bits::RST) {
                self.ended = packet.has(bits::ACK).then_some(Ending::Refused);
                return Ok(());
            }
            if packet.has(bits::SYN)
                && packet.has(bits::ACK)
                && let Some(past) = self.opening.take()
            {
                self.answered(settings, packet, &past)?;
            }
        } else {
            let meets = greeting && self.meeting();
            if !meets && !self.accepts(packet, now, into) {
                return Ok(());
            }
        }
        self.hear(packet, now);
        self.look_for_end();
        Ok(())
    }

    /// Whether the handshake is under way.
    fn meeting(&self) -> bool {
        let state = self.endpoint.tx().map(Sender::state);
        matches!(state, Some(State::Listening | State::Opening))
    }

    /// Whether a segment belongs to the connection; what is said to one that does not.
    fn accepts(&mut self, packet: &Packet, now: Time, into: &mut VecDeque<Seen>) -> bool {
        let Some(rx) = self.endpoint.rx() else { return true };
        let sent = self.endpoint.tx().map_or(Seq::FIRST, |tx| tx.outstanding().max());
        let segment = self.wire.read(packet, rx.rcv_nxt(), sent);
        let stamped = self.wire.agreed.is_some_and(|agreed| agreed.timestamps);
        let expected = Expected {
            next: rx.rcv_nxt(),
            window: rx.window().into(),
            stamp: stamped.then(|| rx.ts_recent()),
        };
        let arriving = Arriving {
            seq: segment.seq,
            len: segment.seq_len(),
            syn: packet.has(bits::SYN),
            rst: packet.has(bits::RST),
            stamp: Some(segment.ts_val).filter(|&stamp| stamp != Time::ZERO),
        };
        let again = self.waits_for_strays() && arriving.len > 0;
        match expected.verdict(&arriving) {
            Verdict::Ends => self.ended = Some(Ending::Reset),
            Verdict::Dropped => {}
            Verdict::Taken
                if packet.len > 0 && self.closing.is_some_and(|closing| closing.both) && !again =>
            {
                // Nobody will read it (RFC 9293, section 3.6.1).
                self.ended = Some(Ending::Over);
                into.extend(refusal(packet).map(|packet| Seen { at: now, packet }));
            }
            Verdict::Taken if !again => return true,
            Verdict::Answered
                if arriving.len == 0 && !arriving.syn && !arriving.rst && !self.strays.answers(now) => {}
            Verdict::Taken | Verdict::Answered => {
                if let Some(rx) = self.endpoint.rx_mut() {
                    rx.acknowledge();
                }
            }
        }
        false
    }

    /// Whether both ways are closed and acknowledged, this end's first: TIME-WAIT.
    fn waits_for_strays(&self) -> bool {
        self.all_closed() && self.closing.is_some_and(|closing| !closing.second)
    }

    fn all_closed(&self) -> bool {
        self.endpoint.finished() && self.endpoint.rx().is_some_and(|rx| rx.finished())
    }

    /// Who closed second forgets the connection with the answer to its FIN.
    fn look_for_end(&mut self) {
        if self.all_closed() && self.closing.is_some_and(|closing| closing.second) {
            self.ended = Some(Ending::Over);
        }
    }

    /// The peer has answered: from now on by what was agreed on.
    fn answered(&mut self, settings: &Settings, packet: &Packet, past: &[Time]) -> Result<(), Error> {
        let agreed = self.wire.meet(Offer::read(packet), packet.seq);
        self.mss = agreed.mss;
        self.endpoint = endpoint(settings, agreed)?;
        self.books = Books::default();
        for (n, &at) in past.iter().enumerate() {
            if n == 0 {
                self.endpoint.open(at, &mut self.books);
            } else {
                self.endpoint.on_timer(at, &mut self.books);
            }
            while self.endpoint.poll_transmit(at, &mut self.books).is_some() {}
        }
        if let Some(&end) = self.written.last()
            && let Some(tx) = self.endpoint.tx_mut()
        {
            tx.write(end - Seq::FIRST);
        }
        Ok(())
    }

    fn hear(&mut self, packet: &Packet, now: Time) {
        let expected = self.endpoint.rx().map_or(Seq::FIRST, |rx| rx.rcv_nxt());
        let sent = self.endpoint.tx().map_or(Seq::FIRST, |tx| tx.outstanding().max());
        let segment = self.wire.read(packet, expected, sent);
        if !packet.has(bits::SYN) || packet.has(bits::ACK) {
            self.most_window = self.most_window.max(segment.window.into());
        }
        self.endpoint.on_segment(now, &segment, packet.ecn == Some(Ecn::Ce), &mut self.books);
        if packet.len > 0 {
            self.delivered += self.endpoint.rx().map_or(0, |rx| rx.delivered());
        }
        self.note_loss();
    }

    fn note_loss(&mut self) {
        if let Some(loss) = self.books.take_loss() {
            self.note(loss.loss.kind);
        }
    }

    fn note(&mut self, kind: LossKind) {
        let sent = self.endpoint.tx().map_or(Seq::FIRST, |tx| tx.outstanding().max());
        self.loss = Some((kind, sent, self.books.counts().undone));
    }

    /// When to call [`Self::on_time`].
    pub fn next(&self) -> Option<Time> {
        if self.ended.is_some() {
            return None;
        }
        self.endpoint.deadline().into_iter().chain(self.endpoint.release()).min()
    }

    /// That time has come.
    pub fn on_time(&mut self, now: Time) {
        if self.endpoint.deadline().is_some_and(|at| at <= now) {
            if let Some(past) = &mut self.opening {
                past.push(now);
            }
            let timeouts = self.books.counts().timeouts;
            self.endpoint.on_timer(now, &mut self.books);
            self.note_loss();
            if self.books.counts().timeouts > timeouts {
                self.note(LossKind::Timeout);
            }
        }
    }

    /// Sends what is to be sent now.
    pub fn transmit(&mut self, now: Time, into: &mut VecDeque<Seen>) {
        while self.ended.is_none()
            && let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.books)
        {
            let segment = &transmit.segment;
            let end = segment.seq + u64::from(segment.len);
            // The end of a write is pushed (RFC 9293, section 3.9.1.2).
            let of_write = self.written.iter().any(|&at| segment.seq < at && at <= end);
            // A sender that makes bursts tells by itself where one ends.
            let pushed = segment.len > 0 && !segment.has(flags::SYN) && (of_write || segment.has(flags::PSH));
            into.push_back(Seen { at: now, packet: self.wire.write(&transmit, pushed) });
        }
    }

    /// Whether the handshake is over.
    pub fn established(&self) -> bool {
        self.endpoint.tx().is_some_and(|tx| matches!(tx.state(), State::Established | State::Finished))
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Ending> {
        self.ended
    }

    /// Whether the application cannot write any more.
    pub fn closed(&self) -> bool {
        self.closing.is_some()
    }

    /// The application writes. The end of what it writes is pushed, and so is every full segment by which more than half of
    /// the largest window would be left unpushed (Linux, forced_push).
    pub fn write(&mut self, bytes: u64) {
        let Some(tx) = self.endpoint.tx_mut() else { return };
        let end = tx.write(bytes);
        let half = self.most_window / 2;
        let mut at = end.earlier(bytes) + u64::from(self.mss);
        while at < end {
            if at - self.written.last().copied().unwrap_or(Seq::FIRST) > half {
                self.written.push(at);
            }
            at += u64::from(self.mss);
        }
        self.written.push(end);
    }

    /// The application reads at most so many bytes; `None`: there are none yet.
    pub fn read(&mut self, most: u64) -> Option<u64> {
        let bytes = (self.delivered - self.read).min(most);
        self.read += bytes;
        let ended = self.endpoint.rx().is_some_and(|rx| rx.finished());
        (bytes > 0 || ended || most == 0).then_some(bytes)
    }

    /// From now on ACKs are delayed, whether the sender is starting or not.
    pub fn end_quick_acks(&mut self) -> Result<(), Error> {
        let delayed = Spec::named("linux").with("ping_pong", Arg::Flag(true)).with("reads", Arg::Flag(false));
        if let Some(rx) = self.endpoint.rx_mut() {
            rx.set_policy(AnyAckPolicy::build(&delayed)?.0);
        }
        Ok(())
    }

    /// Whether small segments wait.
    pub fn set_nagle(&mut self, on: bool) {
        if let Some(tx) = self.endpoint.tx_mut() {
            tx.set_nagle(on);
        }
    }

    /// The application will write no more, nor read if `both`; then what it has not read has come in vain, of which the peer is
    /// told (RFC 2525, section 2.17).
    pub fn close(&mut self, both: bool, now: Time, into: &mut VecDeque<Seen>) {
        let second =
            self.closing.map_or_else(|| self.endpoint.rx().is_some_and(|rx| rx.finished()), |c| c.second);
        self.closing = Some(Closing { both, second });
        if both && self.delivered > self.read && self.ended.is_none() {
            self.ended = Some(Ending::Over);
            let (tx, rx) = (self.endpoint.tx(), self.endpoint.rx());
            let seq = tx.map_or(Seq::FIRST, |tx| tx.outstanding().nxt()).on_wire();
            let ack = rx.map_or(Seq::FIRST, |rx| rx.rcv_nxt());
            into.push_back(Seen { at: now, packet: reset(seq, Some(self.wire.theirs(ack))) });
        } else if let Some(tx) = self.endpoint.tx_mut() {
            tx.close();
        }
    }

    /// What there is of `tcp_info`.
    pub fn info(&self) -> Info {
        let Some(tx) = self.endpoint.tx() else { return Info::new() };
        let (window, out, counts) = (tx.window(), tx.outstanding(), self.books.counts());
        let marked = |mark| (0..out.len()).filter_map(|at| out.get(at)).filter(|sent| sent.is(mark)).count();
        let us = |span: Span| (span.nanos() / 1000) as i64;
        let segments = |bytes: f64| (bytes / f64::from(self.mss)) as i64;
        let untouched = window.ssthresh >= NO_SSTHRESH as f64;
        // A loss event is over when all that had been sent before it is acknowledged (Linux, high_seq), or when it was none.
        let under_way = |kind, sent| out.una() < sent || kind == LossKind::EcnEcho && out.una() == sent;
        let state = match self
            .loss
            .filter(|&(kind, sent, undone)| under_way(kind, sent) && undone == counts.undone)
        {
            Some((LossKind::Timeout, ..)) => 4,
            Some((LossKind::EcnEcho, ..)) => 2,
            Some(_) => 3,
            None if marked(marks::SACKED) > 0 => 1,
            None => 0,
        };
        Info::from([
            ("tcpi_ca_state", state),
            ("tcpi_rto", us(tx.rtt().rto())),
            ("tcpi_snd_mss", self.mss.into()),
            ("tcpi_unacked", out.len() as i64),
            ("tcpi_sacked", marked(marks::SACKED) as i64),
            ("tcpi_notsent_bytes", tx.unsent() as i64),
            ("tcpi_lost", marked(marks::LOST) as i64),
            ("tcpi_retrans", marked(marks::REPAIR) as i64),
            ("tcpi_rtt", tx.rtt().smoothed().map_or(0, us)),
            ("tcpi_snd_ssthresh", if untouched { 0x7fff_ffff } else { segments(window.ssthresh) }),
            ("tcpi_pacing_rate", tx.pace_rate().map_or(i64::MAX, |rate| rate as i64)),
            ("tcpi_min_rtt", window.rtt_min.map_or(i64::from(u32::MAX), us)),
            ("tcpi_rcv_wnd", self.endpoint.rx().map_or(0, |rx| rx.window().into())),
            ("tcpi_snd_cwnd", segments(window.cwnd)),
            ("tcpi_total_retrans", counts.retransmitted_segments as i64),
            ("tcpi_bytes_acked", (out.una() - Seq::FIRST.min(out.una())) as i64),
            ("tcpi_bytes_received", self.delivered as i64),
        ])
    }

    /// Whether a segment begins a connection.
    pub fn is_syn(packet: &Packet) -> bool {
        packet.has(bits::SYN) && !packet.has(bits::ACK)
    }
}
