//! What every effect promises.

use crate::Packet;
use crate::packet::Passage;
use enum_dispatch::enum_dispatch;

/// One effect of a channel at work.
///
/// The contract: [`act`](Impairment::act) is called once for every packet that enters the channel, in order of
/// [`Packet::at`], whether or not an effect before this one has lost the packet, and in constant time on average however
/// long the channel was idle. A member draws from its own stream only, and a number of draws that does not depend on
/// what other effects did. What a time-driven member (Gilbert, outages) does is a function of time: traffic does not
/// change when the bad times are.
#[enum_dispatch]
pub(crate) trait Impairment {
    /// Does to `packet` what this effect does, on top of what the effects before it did.
    fn act(&mut self, packet: &Packet, passage: &mut Passage);

    /// Whether it can never do anything.
    fn is_clean(&self) -> bool;

    /// Whether packets that came to it in order leave it in order, and once.
    fn keeps_order(&self) -> bool {
        true
    }
}
