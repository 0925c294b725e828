//! How hashes combine: scalars, ordered elements, and members in any order.

use core::hash::Hasher as _;

use fnv::FnvHasher;
use unstuck_core::Digest;

pub(crate) const NULL: Digest = word(*b"null    ");
pub(crate) const TRUE: Digest = word(*b"true    ");
pub(crate) const FALSE: Digest = word(*b"false   ");
pub(crate) const ZERO: Digest = word(*b"0       ");

const STRING: Digest = tag(*b"string  ");
const POSITIVE: Digest = tag(*b"positive");
const NEGATIVE: Digest = tag(*b"negative");
const ARRAY: Digest = word(*b"array   ");
const OBJECT: Digest = tag(*b"object  ");

/// What a type is mixed with, so that equal contents of different types differ.
const fn tag(name: [u8; 8]) -> Digest {
    Digest::new(u64::from_be_bytes(name))
}

/// The digest of a value that is all told by its name.
const fn word(name: [u8; 8]) -> Digest {
    tag(*b"word    ").mix(tag(name))
}

/// The digest of a string whose UTF-8 bytes went through `hasher`.
pub(crate) fn string(hasher: &FnvHasher) -> Digest {
    STRING.mix(Digest::new(hasher.finish()))
}

/// The digest of the number ±0.d₁d₂d₃… × 10^`exponent`, whose digits went through `hasher`.
///
/// d₁ and the last digit are not 0, which makes this form the only one of its value.
pub(crate) fn number(negative: bool, hasher: &FnvHasher, exponent: i64) -> Digest {
    let sign = if negative { NEGATIVE } else { POSITIVE };
    sign.mix(Digest::new(hasher.finish())).mix(Digest::new(exponent.cast_unsigned()))
}

/// An open array or object: what its finished contents have come to so far.
pub(crate) enum Frame {
    /// An array: its elements so far, mixed in their order.
    Array { elements: Digest },
    /// An object: its members so far, added up so that their order falls away.
    Object {
        /// The sum of `name.mix(value)` modulo 2⁶⁴. A sum and not an exclusive or, in which a
        /// member that occurs twice would vanish.
        sum: u64,
        /// How many members were added.
        count: usize,
        /// The name of the member whose value is open; `None` if that member is not kept.
        name: Option<Digest>,
    },
}

impl Frame {
    /// An array without elements.
    pub(crate) const fn array() -> Self {
        Self::Array { elements: ARRAY }
    }

    /// An object without members.
    pub(crate) const fn object() -> Self {
        Self::Object { sum: 0, count: 0, name: None }
    }

    /// Adds a finished value: the next element, or the value of the open member.
    pub(crate) const fn add(&mut self, value: Digest) {
        match self {
            Self::Array { elements } => *elements = elements.mix(value),
            Self::Object { sum, count, name } => {
                if let Some(name) = *name {
                    *sum = sum.wrapping_add(name.mix(value).bits());
                    *count = count.saturating_add(1);
                }
            }
        }
    }

    /// How many members were added; an array has none.
    pub(crate) const fn members(&self) -> usize {
        match self {
            Self::Array { .. } => 0,
            Self::Object { count, .. } => *count,
        }
    }

    /// The digest of the finished array or object.
    pub(crate) fn digest(&self) -> Digest {
        match self {
            Self::Array { elements } => *elements,
            Self::Object { sum, count, .. } => {
                // A count that u64 cannot hold exists on no machine.
                let count = u64::try_from(*count).unwrap_or(u64::MAX);
                OBJECT.mix(Digest::new(count)).mix(Digest::new(*sum))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::hash::Hasher as _;

    use fnv::FnvHasher;
    use unstuck_core::Digest;

    use super::{FALSE, Frame, NULL, TRUE, ZERO, number, string};

    fn array(elements: &[Digest]) -> Digest {
        let mut frame = Frame::array();
        for &element in elements {
            frame.add(element);
        }
        assert_eq!(frame.members(), 0);
        frame.digest()
    }

    fn object(members: &[(Option<Digest>, Digest)]) -> Digest {
        let mut frame = Frame::object();
        for &(member, value) in members {
            if let Frame::Object { name, .. } = &mut frame {
                *name = member;
            }
            frame.add(value);
        }
        assert_eq!(frame.members(), members.iter().filter(|(name, _)| name.is_some()).count());
        frame.digest()
    }

    #[test]
    fn values_without_contents_all_differ() {
        let empty = FnvHasher::default();
        let values = [
            NULL,
            TRUE,
            FALSE,
            ZERO,
            string(&empty),
            number(false, &empty, 0),
            number(true, &empty, 0),
            array(&[]),
            object(&[]),
        ];
        for (i, a) in values.iter().enumerate() {
            for b in values.iter().skip(i + 1) {
                assert_ne!(a, b);
            }
        }
    }

    #[test]
    fn a_number_is_its_sign_its_digits_and_its_exponent() {
        let mut digits = FnvHasher::default();
        digits.write(b"5");
        let five = number(false, &digits, 1);
        assert_ne!(five, number(true, &digits, 1));
        assert_ne!(five, number(false, &digits, 2));
        assert_ne!(five, number(false, &digits, -1));
        assert_ne!(five, number(false, &FnvHasher::default(), 1));
    }

    #[test]
    fn elements_are_ordered_and_members_are_not() {
        let (a, b) = (Some(NULL), Some(TRUE));
        assert_ne!(array(&[NULL, TRUE]), array(&[TRUE, NULL]));
        assert_eq!(object(&[(a, ZERO), (b, FALSE)]), object(&[(b, FALSE), (a, ZERO)]));
        assert_ne!(object(&[(a, ZERO), (b, FALSE)]), object(&[(a, FALSE), (b, ZERO)]));
        assert_ne!(object(&[(a, TRUE)]), object(&[(b, NULL)]));
    }

    #[test]
    fn a_member_that_occurs_twice_counts_twice() {
        let member = (Some(NULL), TRUE);
        let digests = [0, 1, 2, 3].map(|times| object(&[member; 3][..times]));
        for (i, a) in digests.iter().enumerate() {
            for b in digests.iter().skip(i + 1) {
                assert_ne!(a, b);
            }
        }
    }

    #[test]
    fn the_count_tells_members_apart_whose_sum_does_not() {
        let vanished = Frame::Object { sum: 0, count: 2, name: None };
        assert_ne!(vanished.digest(), Frame::object().digest());
    }

    #[test]
    fn a_member_that_is_not_kept_leaves_no_trace() {
        assert_eq!(object(&[(None, ZERO), (Some(NULL), TRUE)]), object(&[(Some(NULL), TRUE)]));
    }

    #[test]
    fn a_frame_keeps_the_promise_about_the_stack() {
        assert!(size_of::<Frame>() <= 32);
    }
}
