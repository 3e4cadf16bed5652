//! A queue in a ring of 2ⁿ places. `VecDeque` is the same and does more; here each end is a number that only rises, so that
//! coming and going do not wait for each other's last write, and nothing asks where the ring ends.

/// Places that a ring has first.
const FIRST: usize = 4;

/// First in, first out.
#[derive(Debug, Default)]
pub struct Ring<T> {
    places: Box<[T]>,
    /// How many have gone, and how many have come: of each the lower half, which is enough for as many as there are at a time.
    gone: u32,
    come: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// Whether nothing is in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.gone == self.come
    }

    /// Puts one behind all others.
    #[inline(always)]
    pub fn push(&mut self, thing: T) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.come);
        if let Some(place) = self.places.get_mut(place) {
            *place = thing;
        }
        self.come = self.come.wrapping_add(1);
    }

    /// Takes the first.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.get(0).copied()?;
        self.gone = self.gone.wrapping_add(1);
        Some(first)
    }

    /// The one so many behind the first.
    #[inline(always)]
    pub fn get(&self, by: usize) -> Option<&T> {
        if by < self.len() { self.places.get(self.place(self.gone.wrapping_add(by as u32))) } else { None }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.come.wrapping_sub(self.gone) as usize
    }

    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        number as usize & self.places.len().wrapping_sub(1)
    }

    /// Twice as many places.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let held = self.len();
        let mut places = vec![T::default(); (held * 2).max(FIRST)].into_boxed_slice();
        (0..held).filter_map(|by| self.get(by)).zip(&mut places).for_each(|(thing, place)| *place = *thing);
        self.places = places;
        (self.gone, self.come) = (0, held as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec((0usize..40, 0usize..40), 1..60)) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            let mut next = 0;
            for (come, go) in steps {
                for thing in next..next + come {
                    ring.push(thing);
                    queue.push_back(thing);
                }
                next += come;
                for _ in 0..go {
                    prop_assert_eq!((ring.get(0), ring.get(7)), (queue.front(), queue.get(7)));
                    prop_assert_eq!(ring.pop(), queue.pop_front());
                }
                prop_assert_eq!(ring.is_empty(), queue.is_empty());
            }
            prop_assert!(ring.places.len() <= (2 * 40 * 60).max(FIRST));
        }
    }
}
