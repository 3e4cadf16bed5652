//! A channel: the effects of one direction of one link, acting on packet after packet.
//! Not for: a recorded capacity, which paces a link and is no effect on a packet (see [`Capacity`](crate::Capacity)).

use crate::impairment::{AnyImpairment, Impairment};
use crate::packet::Passage;
use crate::random::stream;
use crate::{ChannelConfig, Fate, Packet};

/// What a noisy path does to packets.
///
/// Every effect sees every packet that enters the channel, at the time it enters, also one that an effect before it has
/// lost already. So an effect's draws depend on the traffic and on its own parameters only: with one effect changed, the
/// others do to each packet what they did before.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Those that can do something; most channels have none or one.
    effects: Vec<AnyImpairment>,
    /// Where each of them stands in the configuration.
    positions: Vec<usize>,
}

impl Channel {
    /// A channel from its configuration. `seed` is this channel's own (see [`stream_seed`](crate::stream_seed)); each
    /// effect's stream is derived from it and the effect's position in `config`.
    pub fn new(config: &ChannelConfig, seed: u64) -> Self {
        Self { effects: Vec::new(), positions: Vec::new() }.turned(&ChannelConfig::default(), config, seed)
    }

    /// The same channel, made by the configuration `before`, as `after` has it: what stands at its position as it did goes
    /// on where it was, all else begins anew, drawing from `seed`.
    pub fn turned(self, before: &ChannelConfig, after: &ChannelConfig, seed: u64) -> Self {
        let mut old: Vec<(usize, AnyImpairment)> = self.positions.into_iter().zip(self.effects).collect();
        let (mut positions, mut effects) = (Vec::new(), Vec::new());
        for (position, effect) in after.effects.iter().enumerate() {
            let stays = before.effects.get(position) == Some(effect);
            let known = old.iter().position(|(at, _)| stays && *at == position);
            let member = match known {
                Some(at) => Some(old.swap_remove(at).1),
                None => AnyImpairment::new(effect, stream(seed, &format!("effect {position}"))),
            };
            if let Some(member) = member.filter(|member| !member.is_clean()) {
                positions.push(position);
                effects.push(member);
            }
        }
        Self { effects, positions }
    }

    /// Whether nothing can happen to a packet, so that there is no need to ask.
    pub fn is_clean(&self) -> bool {
        self.effects.is_empty()
    }

    /// Whether no packet can arrive before an earlier one, or twice: a link with this channel is still a FIFO.
    pub fn keeps_order(&self) -> bool {
        self.effects.iter().all(Impairment::keeps_order)
    }

    /// What becomes of `packet`. Packets are given in order of [`Packet::at`].
    #[inline]
    pub fn fate(&mut self, packet: &Packet) -> Fate {
        let mut passage = Passage::default();
        for effect in &mut self.effects {
            effect.act(packet, &mut passage);
        }
        passage.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effect, JitterDistribution, Loss, Script, Span, Time};

    fn packet(at: u64) -> Packet {
        Packet { at: Time::ns(at), bytes: 1500, flow: 0, data: true }
    }

    #[test]
    fn without_effects_nothing_happens() {
        let mut channel = Channel::new(&ChannelConfig::default(), 1);
        assert!(channel.is_clean() && channel.keeps_order());
        assert_eq!(channel.fate(&packet(1)), Fate::Arrives { extra: Span::ZERO, copy: None });
    }

    #[test]
    fn what_is_turned_leaves_the_other_effects_where_they_were() {
        let script = Effect::Scripted(Script { packets: vec![(3, 3)], ..Script::default() });
        let all = |per| ChannelConfig { effects: vec![Effect::Bernoulli { per }, script.clone()] };
        let mut channel = Channel::new(&all(0.0), 1);
        let arrives = Fate::Arrives { extra: Span::ZERO, copy: None };
        assert_eq!([1, 2].map(|at| channel.fate(&packet(at))), [arrives; 2]);
        let mut channel = channel.turned(&all(0.0), &all(1e-9), 2);
        assert_eq!(
            [3, 4].map(|at| channel.fate(&packet(at))),
            [Fate::Lost(Loss::Error), arrives],
            "the third"
        );
        let mut channel = channel.turned(&all(1e-9), &all(1.0), 3);
        assert_eq!(channel.fate(&packet(5)), Fate::Lost(Loss::Error));
        assert!(channel.turned(&all(1.0), &ChannelConfig::default(), 4).is_clean());
    }

    #[test]
    fn causes_are_told_apart() {
        let outage = Effect::Outages { at: vec![(Time::ns(10), Span::ns(10))] };
        let script = Effect::Scripted(Script { packets: vec![(1, 1)], ..Script::default() });
        let mut channel = Channel::new(&ChannelConfig { effects: vec![outage, script] }, 1);
        let fates = [5, 15, 25].map(|at| channel.fate(&packet(at)));
        let arrives = Fate::Arrives { extra: Span::ZERO, copy: None };
        assert_eq!(fates, [Fate::Lost(Loss::Error), Fate::Lost(Loss::Outage), arrives]);
    }

    #[test]
    fn two_jitters_that_keep_order_keep_it_together() {
        let distribution = JitterDistribution::Uniform { max: Span::us(1) };
        let jitter = Effect::Jitter { distribution, correlation_time: Span::ZERO, keep_order: true };
        let mut channel = Channel::new(&ChannelConfig { effects: vec![jitter.clone(), jitter] }, 3);
        assert!(channel.keeps_order());
        let mut last = Time::ZERO;
        for i in 0..10_000 {
            let packet = packet(i * 100);
            let Fate::Arrives { extra, copy: None } = channel.fate(&packet) else {
                panic!("jitter loses and doubles nothing")
            };
            assert!(packet.at + extra >= last);
            last = packet.at + extra;
        }
    }

    #[test]
    fn equal_effects_at_different_positions_draw_differently() {
        let half = |n: usize| {
            let mut effects = vec![Effect::Bernoulli { per: 0.0 }; n];
            effects.push(Effect::Bernoulli { per: 0.5 });
            let mut channel = Channel::new(&ChannelConfig { effects }, 1);
            (0..200).map(|i| channel.fate(&packet(i))).collect::<Vec<_>>()
        };
        assert_ne!(half(0), half(1));
    }
}
