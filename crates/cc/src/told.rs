//! What a port by the ideal predictor is told of losses: the map of `bpf/told.h`, and the handle by which the path of a run
//! writes it.

use super::layout::{ends, losses, stretch};
use crate::Error;
use libbpf_rs::{ErrorKind, Map, MapCore, MapFlags, MapHandle};
use truckee_host::bpf::refused;
use truckee_tcp::Cause;

/// Its name in the program.
pub(super) const MAP: &str = "told";
/// Most connections that miss something at once.
pub(super) const CONNECTIONS: u32 = 16_384;

/// By which a port is told what became of its segments, from any thread.
#[derive(Debug)]
pub struct Teller {
    map: MapHandle,
}

impl Teller {
    pub(super) fn of(map: &Map<'_>) -> Result<Self, Error> {
        let map = MapHandle::try_from(map).map_err(|e| refused("have the map of what is told", &e))?;
        Ok(Self { map })
    }

    /// The connection between those ports misses these stretches, lowest first, and nothing else: the first byte of each, as
    /// the number in a header, how many bytes, and what their latest transmission died of. What there is no room for (64
    /// stretches) is left out from the end.
    pub fn tell(
        &self,
        server: u16,
        client: u16,
        missing: impl IntoIterator<Item = (u32, u32, Cause)>,
    ) -> Result<(), Error> {
        let value = written(missing);
        let key = ends { server, client };
        let key = bytemuck::bytes_of(&key);
        let done = match value.count {
            0 => self.map.delete(key),
            _ => self.map.update(key, bytemuck::bytes_of(&value), MapFlags::ANY),
        };
        match done {
            Err(e) if value.count > 0 || e.kind() != ErrorKind::NotFound => {
                Err(refused(format!("tell of the losses of {server}-{client}"), &e))
            }
            _ => Ok(()),
        }
    }
}

/// The stretches as the program reads them.
fn written(missing: impl IntoIterator<Item = (u32, u32, Cause)>) -> losses {
    let mut value = <losses as bytemuck::Zeroable>::zeroed();
    for (place, (first, bytes, cause)) in value.stretches.iter_mut().zip(missing) {
        let cause = match cause {
            Cause::Congestion => 1,
            Cause::Wireless => 2,
        };
        *place = stretch { first, bytes, cause };
        value.count += 1;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_stretches_are_told_and_what_has_no_room_is_not() {
        let all = (0..100).map(|k| (7 + k, 5, if k == 1 { Cause::Wireless } else { Cause::Congestion }));
        let value = written(all);
        assert_eq!(value.count, 64);
        let first: Vec<_> = value.stretches[..3].iter().map(|s| (s.first, s.bytes, s.cause)).collect();
        assert_eq!(first, [(7, 5, 1), (8, 5, 2), (9, 5, 1)]);
        assert_eq!(written([]).count, 0);
    }
}
