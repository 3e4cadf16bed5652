//! What routers say to each other, and how large it is.

use crate::kind::Kind;
use crate::{aodv, dsdv, olsr};

/// Headers of IPv4 without options and of UDP, in bytes: all three protocols' messages go in UDP.
pub const UDP_IP: u32 = 28;

/// One packet of a routing protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// RFC 3561, section 5.
    Aodv(aodv::Message),
    /// RFC 3626, section 3.3: a packet of one or several messages.
    Olsr(olsr::Packet),
    /// An update of routes.
    Dsdv(dsdv::Update),
}

impl Message {
    /// Its size in bytes, headers of IP and UDP included.
    pub fn bytes(&self) -> u32 {
        UDP_IP
            + match self {
                Message::Aodv(message) => message.bytes(),
                Message::Olsr(packet) => packet.bytes(),
                Message::Dsdv(update) => update.bytes(),
            }
    }
}

/// What one router has sent, each hop counted: the overhead of a run is the sum over its routers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Packets.
    pub packets: u64,
    /// Bytes in them, headers of IP and UDP included.
    pub bytes: u64,
    /// Messages of a kind, and their bytes without headers of IP and UDP or of OLSR's packet, in the order of [`Kind::ALL`].
    kinds: [(u64, u64); Kind::ALL.len()],
}

impl Counters {
    /// How many messages of a kind, and their bytes without the headers of IP, UDP and OLSR's packet.
    pub fn of(&self, kind: Kind) -> (u64, u64) {
        self.kinds[kind as usize]
    }

    /// A packet of routing is sent.
    pub fn sent(&mut self, message: &Message) {
        self.packets += 1;
        self.bytes += u64::from(message.bytes());
        let mut add = |kind: Kind, bytes: u32| {
            let (messages, sum) = &mut self.kinds[kind as usize];
            *messages += 1;
            *sum += u64::from(bytes);
        };
        match message {
            Message::Aodv(message) => add(message.kind(), message.bytes()),
            Message::Olsr(packet) => packet.messages.iter().for_each(|m| add(m.kind(), m.bytes())),
            Message::Dsdv(update) => add(update.kind(), update.bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::aodv::SequenceNumber;
    use crate::olsr::{LinkType, NeighbourType};
    use truckee_channel::Span;

    fn aodv(body: aodv::Body) -> u32 {
        Message::Aodv(aodv::Message { ttl: 1, body }).bytes()
    }

    #[test]
    fn messages_of_aodv_have_the_lengths_of_rfc_3561() {
        // 5.1: six words; 5.2: five; 5.3: one and two for each destination; 5.4: two bytes.
        let rreq = aodv::Rreq {
            gratuitous: false,
            destination_only: false,
            hops: 0,
            id: 1,
            to: NodeId(2),
            to_seq: None,
            from: NodeId(1),
            from_seq: SequenceNumber(1),
        };
        assert_eq!(aodv(aodv::Body::Rreq(rreq)), 20 + 8 + 24);
        let rrep = aodv::Rrep {
            acknowledge: false,
            hops: 0,
            to: NodeId(2),
            to_seq: SequenceNumber(1),
            from: NodeId(1),
            lifetime: Span::s(3),
        };
        assert_eq!(aodv(aodv::Body::Rrep(rrep)), 20 + 8 + 20);
        let unreachable = [1, 2, 3].map(|n| (NodeId(n), SequenceNumber(n))).to_vec();
        assert_eq!(aodv(aodv::Body::Rerr { no_delete: false, unreachable }), 20 + 8 + 4 + 3 * 8);
        assert_eq!(aodv(aodv::Body::RrepAck), 20 + 8 + 2);
    }

    #[test]
    fn packets_of_olsr_have_the_lengths_of_rfc_3626() {
        let message =
            |body| olsr::Message { from: NodeId(1), seq: 0, ttl: 1, hops: 0, validity: Span::s(6), body };
        // 3.3: four bytes of packet header, twelve of message header. 6.1: four, and four and an address each for every
        // link code.
        let links = vec![
            ((LinkType::Symmetric, NeighbourType::Mpr), vec![NodeId(2)]),
            ((LinkType::Symmetric, NeighbourType::Symmetric), vec![NodeId(3), NodeId(4)]),
        ];
        let hello = message(olsr::Body::Hello { interval: Span::s(2), willingness: 3, links });
        assert_eq!(hello.bytes(), 12 + 4 + (4 + 4) + (4 + 8));
        // 9.1: four, and an address each.
        let tc = message(olsr::Body::Tc { ansn: 1, neighbours: vec![NodeId(2), NodeId(3)] });
        assert_eq!(tc.bytes(), 12 + 4 + 8);
        let both = Message::Olsr(olsr::Packet { seq: 0, messages: vec![hello, tc] });
        assert_eq!(both.bytes(), 20 + 8 + 4 + 36 + 24);

        let mut counters = Counters::default();
        counters.sent(&both);
        assert_eq!((counters.packets, counters.bytes), (1, 92));
        assert_eq!((counters.of(Kind::Hello), counters.of(Kind::Tc)), ((1, 36), (1, 24)));
    }

    #[test]
    fn an_update_of_dsdv_has_twelve_bytes_for_each_route() {
        let route = dsdv::Advertised { to: NodeId(1), metric: Some(1), seq: 2 };
        let update = dsdv::Update { full: false, routes: vec![route; 5] };
        assert_eq!(Message::Dsdv(update).bytes(), 20 + 8 + 60);
    }
}
