//! The packets of one flow as they leave and reach one of its ends, kept for a capture, with what became of those that
//! left. Not for: what they mean; [`super::book`] knows.

use super::Cause;
use truckee_channel::{Span, Time};
use truckee_scenario::outcome::{PacketContent, PacketPoint, Vantage};

/// Bytes that are kept of a packet: its headers.
const KEPT: usize = 128;
/// Packets that are kept of a flow and direction: some hundred megabytes.
pub const MOST: usize = 2_000_000;

/// What is kept.
#[derive(Debug)]
pub(super) struct Tap {
    vantage: Vantage,
    most: usize,
    left_out: u64,
    /// In the order in which they left, which is that of their times.
    left: Vec<PacketPoint>,
    come: Vec<PacketPoint>,
    /// How late those that the last lane took left it, to the receiver and to the sender.
    late: [Vec<Span>; 2],
}

fn content(packet: &[u8]) -> PacketContent {
    PacketContent::Headers { bytes: packet[..packet.len().min(KEPT)].into(), wire_len: packet.len() as u32 }
}

/// Keeps it if there is room; how many there was none for.
fn keep(list: &mut Vec<PacketPoint>, point: PacketPoint, most: usize) -> u64 {
    let room = list.len() < most;
    if room {
        list.push(point);
    }
    u64::from(!room)
}

impl Tap {
    /// Nothing is kept yet.
    pub fn new(vantage: Vantage) -> Self {
        Self {
            vantage,
            most: MOST,
            left_out: 0,
            left: Vec::new(),
            come: Vec::new(),
            late: Default::default(),
        }
    }

    /// A packet enters the path at either end.
    pub fn enters(&mut self, at: Time, connection: u32, from_sender: bool, packet: &[u8]) {
        if self.vantage.is_left(from_sender) {
            let point = PacketPoint {
                at,
                connection,
                from_sender,
                transmission: None,
                content: content(packet),
                dropped: None,
            };
            self.left_out += keep(&mut self.left, point, self.most);
        }
    }

    /// A packet leaves the path at either end.
    pub fn exits(&mut self, at: Time, connection: u32, from_sender: bool, packet: &[u8]) {
        if !self.vantage.is_left(from_sender) {
            let point = PacketPoint {
                at,
                connection,
                from_sender,
                transmission: None,
                content: content(packet),
                dropped: None,
            };
            self.left_out += keep(&mut self.come, point, self.most);
        }
    }

    /// The last lane of its way has taken a packet: its number among them.
    pub fn taken(&mut self, from_sender: bool) -> u32 {
        let late = &mut self.late[usize::from(!from_sender)];
        let number = late.len();
        if number < self.most {
            late.push(Span::ZERO);
        }
        number as u32
    }

    /// The packet of this number has left that much after it was due.
    pub fn late(&mut self, from_sender: bool, number: u32, by: Span) {
        if let Some(late) = self.late[usize::from(!from_sender)].get_mut(number as usize) {
            *late = by;
        }
    }

    /// The packet that entered at that time has been lost: why, and at which link.
    pub fn lost(
        &mut self,
        born: Time,
        connection: u32,
        from_sender: bool,
        packet: &[u8],
        (cause, link): (Cause, &str),
    ) {
        if !self.vantage.is_left(from_sender) {
            return;
        }
        let from = self.left.partition_point(|p| p.at < born);
        let same = self.left[from..].iter_mut().take_while(|p| p.at == born);
        let content = content(packet);
        let meant = |p: &&mut PacketPoint| p.connection == connection && p.content == content;
        if let Some(point) = same.into_iter().find(meant) {
            point.dropped = Some((cause.name(), link.to_owned()));
        }
    }

    /// All of them in order of time, how many more there were, and how late they were.
    pub fn finish(self) -> (Vec<PacketPoint>, u64, [Vec<Span>; 2]) {
        let mut all = self.left;
        all.extend(self.come);
        all.sort_by_key(|p| p.at);
        (all, self.left_out, self.late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_noted_at_the_departure_of_the_packet_that_was_lost() {
        let mut tap = Tap::new(Vantage::Sender);
        let packets = [[1; 200], [2; 200], [3; 200]];
        tap.enters(Time::ns(10), 0, true, &packets[0]);
        tap.enters(Time::ns(20), 0, true, &packets[1]);
        tap.exits(Time::ns(30), 0, false, &packets[2]);
        tap.enters(Time::ns(20), 1, true, &packets[1]);
        tap.enters(Time::ns(40), 0, true, &packets[1]);
        tap.lost(Time::ns(20), 1, true, &packets[1], (Cause::Queue, "a-b"));
        let (all, left_out, _) = tap.finish();
        let fates: Vec<(Time, u32, bool)> =
            all.iter().map(|p| (p.at, p.connection, p.dropped.is_some())).collect();
        let expected = [(10, 0, false), (20, 0, false), (20, 1, true), (30, 0, false), (40, 0, false)]
            .map(|(at, connection, lost)| (Time::ns(at), connection, lost));
        assert_eq!(fates, expected);
        assert_eq!((all[2].dropped.clone(), left_out), (Some(("queue", "a-b".to_owned())), 0));
        let PacketContent::Headers { bytes, wire_len } = &all[0].content else { panic!("{all:?}") };
        assert_eq!((bytes.len(), *wire_len), (128, 200));
    }

    #[test]
    fn what_passes_at_the_other_end_is_not_kept() {
        for (vantage, times) in [(Vantage::Sender, [1, 4]), (Vantage::Receiver, [2, 3])] {
            let mut tap = Tap::new(vantage);
            tap.enters(Time::ns(1), 0, true, &[1]);
            tap.exits(Time::ns(2), 0, true, &[1]);
            tap.enters(Time::ns(3), 0, false, &[2]);
            tap.exits(Time::ns(4), 0, false, &[2]);
            let (all, ..) = tap.finish();
            assert_eq!(all.iter().map(|p| p.at).collect::<Vec<_>>(), times.map(Time::ns), "{vantage:?}");
        }
    }

    #[test]
    fn packets_that_are_too_many_are_counted() {
        let mut tap = Tap { most: 2, ..Tap::new(Vantage::Sender) };
        for at in 0..5 {
            tap.enters(Time::ns(at), 0, true, &[1]);
            tap.exits(Time::ns(at), 0, false, &[2]);
        }
        let (all, left_out, _) = tap.finish();
        assert_eq!((all.len(), left_out), (4, 6));
    }
}
