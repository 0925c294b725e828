//! Finds the call that a result answers, in bounded memory.

use core::hash::{Hash, Hasher};
use std::collections::VecDeque;
use std::hash::DefaultHasher;

/// The number of calls that are kept for pairing, answered or not.
///
/// Agents issue tens of calls at once, not thousands. A call that this many others follow will not
/// be answered any more.
pub(crate) const OPEN_CALLS_MAX: usize = 1024;

/// The latest calls, by id.
///
/// Providers reuse ids within a run, so a result answers the earliest open call of its id, and a map
/// from id to call would be wrong. Only digests are kept, because an id may be as long as a line.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    calls: VecDeque<Paired>,
    /// The number of calls that were forgotten.
    forgotten: u64,
    /// The numbers of the open calls, from 0 over all calls, in rising order.
    open: VecDeque<u64>,
}

#[derive(Debug)]
struct Paired {
    worker: u64,
    id: u64,
    content: u64,
    index: usize,
    open: bool,
}

impl Pairing {
    /// Adds a call. If there are too many, the oldest is forgotten.
    pub(crate) fn issue(&mut self, worker: &str, id: &str, content: u64, index: usize) {
        if self.calls.len() == OPEN_CALLS_MAX {
            self.calls.pop_front();
            if self.open.front() == Some(&self.forgotten) {
                self.open.pop_front();
            }
            self.forgotten += 1;
        }
        self.open.push_back(self.forgotten + self.calls.len() as u64);
        self.calls.push_back(Paired {
            worker: digest(worker),
            id: digest(id),
            content,
            index,
            open: true,
        });
    }

    /// Adds a call without id, which only the next result without id can answer.
    pub(crate) fn issue_unnamed(&mut self, worker: &str, index: usize) {
        while self.answer(worker, "").is_some() {}
        self.issue(worker, "", 0, index);
    }

    /// Returns the call that a result with this id answers, and closes it: the earliest open one.
    pub(crate) fn answer(&mut self, worker: &str, id: &str) -> Option<usize> {
        let place = self.open_place(worker, id)?;
        self.close(place)
    }

    /// Closes the earliest open call from the index `first` on, whatever its id, and returns its index.
    pub(crate) fn answer_any(&mut self, worker: &str, first: usize) -> Option<usize> {
        let worker = digest(worker);
        let is_meant = |call: &Paired| call.worker == worker && call.index >= first;
        let place = self.open_call(is_meant)?;
        self.close(place)
    }

    /// Closes the call at a place in `open`, and returns its index.
    fn close(&mut self, place: usize) -> Option<usize> {
        let number = self.open.remove(place)?;
        let call = self.calls.get_mut(self.index_of(number))?;
        call.open = false;
        Some(call.index)
    }

    /// Returns the place in `open` of the earliest open call with this id.
    fn open_place(&self, worker: &str, id: &str) -> Option<usize> {
        if self.open.is_empty() {
            return None;
        }
        let (worker, id) = (digest(worker), digest(id));
        self.open_call(|call| call.id == id && call.worker == worker)
    }

    /// Returns the place in `open` of the earliest call that is meant.
    fn open_call(&self, is_meant: impl Fn(&Paired) -> bool) -> Option<usize> {
        self.open
            .iter()
            .position(|number| self.calls.get(self.index_of(*number)).is_some_and(&is_meant))
    }

    fn index_of(&self, number: u64) -> usize {
        usize::try_from(number - self.forgotten).unwrap_or(usize::MAX)
    }

    /// Returns whether a call with this id waits for its result.
    pub(crate) fn is_open(&self, worker: &str, id: &str) -> bool {
        self.open_place(worker, id).is_some()
    }

    /// Returns whether a record with this id and content repeats one that was read.
    ///
    /// While its call is open, it always does. Afterwards it does if the id looks random. A counter
    /// such as `call_0` starts anew with every response, so the same id with the same arguments is
    /// then a new call.
    pub(crate) fn mirrors(&self, worker: &str, id: &str, content: u64) -> bool {
        let (worker, digest_of_id) = (digest(worker), digest(id));
        self.calls.iter().any(|call| {
            call.id == digest_of_id
                && call.worker == worker
                && call.content == content
                && (call.open || looks_random(id))
        })
    }
}

/// The latest records, to recognise those that are written again.
#[derive(Debug, Default)]
pub(crate) struct RecentRecords(VecDeque<u64>);

impl RecentRecords {
    /// Adds a record and returns whether it is new. If there are too many, the oldest is forgotten.
    pub(crate) fn insert(&mut self, value: impl Hash) -> bool {
        let digest = digest(value);
        if self.0.contains(&digest) {
            return false;
        }
        if self.0.len() == OPEN_CALLS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(digest);
        true
    }
}

/// Returns a digest for comparisons within one reading.
pub(crate) fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns whether an id has 12 or more letters and digits in a row, with at least one digit. For
/// example, the last group of a UUID has, and `functions.read_file:3` has not.
fn looks_random(id: &str) -> bool {
    id.split(|symbol: char| !symbol.is_ascii_alphanumeric())
        .any(|run| run.len() >= 12 && run.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_id_is_paired_in_order() {
        let mut pairing = Pairing::default();
        pairing.issue("main", "call_0", 1, 0);
        pairing.issue("main", "call_0", 2, 1);
        assert_eq!(pairing.answer("main", "call_0"), Some(0));
        assert_eq!(pairing.answer("other", "call_0"), None);
        assert!(pairing.is_open("main", "call_0"));
        assert_eq!(pairing.answer("main", "call_0"), Some(1));
        assert!(!pairing.is_open("main", "call_0"));
        assert_eq!(pairing.answer("main", "call_0"), None);
    }

    #[test]
    fn a_mirror_has_the_same_content_and_an_open_call_or_a_random_id() {
        let mut pairing = Pairing::default();
        for (index, id) in ["call_0", "toolu_01A9Q4pzPLU8FwqfpZ8VJMBY"].iter().enumerate() {
            pairing.issue("main", id, 7, index);
            assert!(pairing.mirrors("main", id, 7));
            assert!(!pairing.mirrors("main", id, 8));
            pairing.answer("main", id);
        }
        assert!(!pairing.mirrors("main", "call_0", 7));
        assert!(pairing.mirrors("main", "toolu_01A9Q4pzPLU8FwqfpZ8VJMBY", 7));
    }

    #[test]
    fn a_call_without_id_is_answered_by_the_next_result_or_never() {
        let mut pairing = Pairing::default();
        pairing.issue_unnamed("main", 0);
        pairing.issue_unnamed("main", 1);
        assert_eq!(pairing.answer("main", ""), Some(1));
        assert_eq!(pairing.answer("main", ""), None);
    }

    #[test]
    fn any_open_call_of_a_worker_is_answered_from_an_index_on() {
        let mut pairing = Pairing::default();
        for (index, worker) in ["main", "main", "other", "main"].into_iter().enumerate() {
            pairing.issue(worker, &index.to_string(), 0, index);
        }
        assert_eq!(pairing.answer("main", "1"), Some(1));
        assert_eq!(pairing.answer_any("main", 1), Some(3));
        assert_eq!(pairing.answer_any("main", 1), None);
        assert_eq!(pairing.answer_any("main", 0), Some(0));
        assert_eq!(pairing.answer("other", "2"), Some(2));
    }

    #[test]
    fn a_record_is_known_until_too_many_others_follow() {
        let mut seen = RecentRecords::default();
        assert!(seen.insert("a"));
        assert!(!seen.insert("a"));
        for number in 0..OPEN_CALLS_MAX {
            seen.insert(number);
        }
        assert!(seen.insert("a"));
        assert_eq!(seen.0.len(), OPEN_CALLS_MAX);
    }

    #[test]
    fn open_calls_among_answered_ones_are_found_and_forgotten() {
        let mut pairing = Pairing::default();
        for index in 0..4 * OPEN_CALLS_MAX {
            pairing.issue("main", &index.to_string(), 0, index);
            if !index.is_multiple_of(3) {
                assert_eq!(pairing.answer("main", &index.to_string()), Some(index));
            }
            assert!(pairing.open.len() <= OPEN_CALLS_MAX / 3 + 1);
        }
        let answered = |index: usize| !index.is_multiple_of(3);
        for index in (0..4 * OPEN_CALLS_MAX).rev() {
            let is_kept = index >= 3 * OPEN_CALLS_MAX;
            let expected = Some(index).filter(|index| is_kept && !answered(*index));
            assert_eq!(pairing.answer("main", &index.to_string()), expected, "{index}");
        }
        assert!(pairing.open.is_empty());
    }

    #[test]
    fn memory_is_bounded() {
        let mut pairing = Pairing::default();
        for index in 0..=OPEN_CALLS_MAX {
            pairing.issue("main", &index.to_string(), 0, index);
        }
        assert_eq!(pairing.calls.len(), OPEN_CALLS_MAX);
        assert_eq!(pairing.answer("main", "0"), None);
        assert_eq!(pairing.answer("main", "1"), Some(1));
    }

    #[test]
    fn counters_and_random_ids_differ() {
        let random = [
            "call_e55a5b729638448fb77ba8fc",
            "chatcmpl-tool-5f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "123e4567-e89b-12d3-a456-426614174000",
        ];
        let counters = ["call_0", "toolu_write_001", "functions.TodoWrite:12", ""];
        assert!(random.into_iter().all(looks_random));
        assert!(!counters.into_iter().any(looks_random));
    }
}
