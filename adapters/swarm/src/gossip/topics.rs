//! The topics of a replica, in bounded memory, and the queue of its news.

use alloc::collections::{BTreeMap, BTreeSet};
use core::ops::Bound;

use crate::gossip::topic::{Calls, Cell, Id, Topic};
use crate::observation::{CallResult, Worker};

/// The urgency of news. The first variant is sent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// Several workers make the call.
    Shared,
    /// A worker of this replica made the call.
    Own,
    /// One worker of another replica made the call.
    Remote,
}

/// A logical time: the number of earlier changes.
type Moment = u64;

#[derive(Clone, Debug)]
struct Entry {
    topic: Topic,
    /// The position in the order of forgetting.
    weight: (u32, Moment),
    /// The position among the news, if the topic is news.
    news: Option<(Urgency, Moment)>,
}

/// Topics with a limited number of cells in all.
///
/// If there is no room for another cell, the topic with the fewest calls is forgotten, and among equals the one
/// that has not changed for longest. So frequent calls of many workers stay.
#[derive(Clone, Debug)]
pub(crate) struct Topics {
    entries: BTreeMap<Id, Entry>,
    lightest: BTreeSet<((u32, Moment), Id)>,
    news: BTreeMap<(Urgency, Moment), Id>,
    cells: usize,
    limit: usize,
    moment: Moment,
}

impl Topics {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            lightest: BTreeSet::new(),
            news: BTreeMap::new(),
            cells: 0,
            limit,
            moment: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Returns the number of cells.
    pub(crate) const fn cells(&self) -> usize {
        self.cells
    }

    pub(crate) fn topic(&self, id: &Id) -> Option<&Topic> {
        self.entries.get(id).map(|entry| &entry.topic)
    }

    pub(crate) fn topic_mut(&mut self, id: &Id) -> Option<&mut Topic> {
        self.entries.get_mut(id).map(|entry| &mut entry.topic)
    }

    /// Returns all topics from an id on, in their order.
    pub(crate) fn from(&self, id: Id) -> impl Iterator<Item = (&Id, &Topic)> {
        self.entries.range(id..).map(|(id, entry)| (id, &entry.topic))
    }

    /// Returns the topic after this one.
    pub(crate) fn after(&self, id: Id) -> Option<Id> {
        let after = (Bound::Excluded(id), Bound::Unbounded);
        self.entries.range(after).next().map(|(id, _)| *id)
    }

    /// Returns the first topic.
    pub(crate) fn first(&self) -> Option<Id> {
        self.entries.first_key_value().map(|(id, _)| *id)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Raises the calls of a worker to the result of `raised`. Returns whether they rose. They do not if this
    /// topic itself takes all of the room.
    ///
    /// The caller settles the topic with [`Topics::settle`] when it is done.
    pub(crate) fn raise(
        &mut self,
        id: Id,
        result: Option<CallResult>,
        worker: Worker,
        raised: impl Fn(&Calls) -> Calls,
    ) -> bool {
        let entry = self.entries.get(&id);
        let place = entry.map_or(Err(0), |entry| place(&entry.topic, worker));
        match place {
            Ok(place) => {
                let topic = self.topic_mut(&id).and_then(|topic| topic.cells.get_mut(place));
                topic.is_some_and(|cell| raise(cell, raised))
            }
            Err(place) => {
                let calls = raised(&[0; 3]);
                let fits = calls != [0; 3] && self.has_room(&id);
                if fits {
                    self.insert(id, result, place, Cell { worker, calls, left: 0, frame: 0 });
                }
                fits
            }
        }
    }

    fn insert(&mut self, id: Id, result: Option<CallResult>, place: usize, cell: Cell) {
        let weight = (0, self.moment);
        let entry = self.entries.entry(id).or_insert_with(|| {
            self.lightest.insert((weight, id));
            Entry { topic: Topic::new(result), weight, news: None }
        });
        entry.topic.cells.insert(place, cell);
        self.cells += 1;
    }

    /// Makes room for another cell of this topic. Returns whether there is room.
    fn has_room(&mut self, id: &Id) -> bool {
        if self.cells < self.limit {
            return true;
        }
        let others = self.lightest.iter().map(|(_, other)| *other);
        let Some(other) = others.into_iter().find(|other| other != id) else { return false };
        self.forget(&other);
        true
    }

    fn forget(&mut self, id: &Id) {
        let Some(entry) = self.entries.remove(id) else { return };
        self.cells -= entry.topic.cells.len();
        self.lightest.remove(&(entry.weight, *id));
        if let Some(news) = entry.news {
            self.news.remove(&news);
        }
    }

    /// Updates the position of a changed topic in the order of forgetting.
    pub(crate) fn settle(&mut self, id: &Id) {
        self.moment += 1;
        let Some(entry) = self.entries.get_mut(id) else { return };
        self.lightest.remove(&(entry.weight, *id));
        entry.weight = (entry.topic.weight(), self.moment);
        self.lightest.insert((entry.weight, *id));
    }

    /// Queues a topic behind all other news of its urgency. News that were more urgent stay so.
    pub(crate) fn announce(&mut self, id: &Id, urgency: Urgency) {
        self.moment += 1;
        let Some(entry) = self.entries.get_mut(id) else { return };
        let known = entry.news.map(|news| {
            self.news.remove(&news);
            news.0
        });
        let place = (known.map_or(urgency, |known| known.min(urgency)), self.moment);
        entry.news = Some(place);
        self.news.insert(place, *id);
    }

    /// Removes a topic from the news.
    pub(crate) fn retract(&mut self, id: &Id) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if let Some(news) = entry.news.take() {
            self.news.remove(&news);
        }
    }

    /// Returns the news, the most urgent first, and among equals the oldest first.
    pub(crate) fn news(&self) -> impl Iterator<Item = (Urgency, Id)> {
        self.news.iter().map(|((urgency, _), id)| (*urgency, *id))
    }

    /// Turns by a number of generations.
    pub(crate) fn turn(&mut self, generations: u64) {
        let (news, lightest) = (&mut self.news, &mut self.lightest);
        lightest.clear();
        let mut cells = 0;
        self.entries.retain(|id, entry| {
            let stays = entry.topic.turn(generations);
            if stays {
                cells += entry.topic.cells.len();
                entry.weight.0 = entry.topic.weight();
                lightest.insert((entry.weight, *id));
            } else if let Some(place) = entry.news {
                news.remove(&place);
            }
            stays
        });
        self.cells = cells;
    }
}

fn place(topic: &Topic, worker: Worker) -> Result<usize, usize> {
    topic.cells.binary_search_by_key(&worker, |cell| cell.worker)
}

fn raise(cell: &mut Cell, raised: impl Fn(&Calls) -> Calls) -> bool {
    let calls = raised(&cell.calls);
    let rose = calls != cell.calls;
    cell.calls = calls;
    rose
}

#[cfg(test)]
mod tests {
    use unstuck_core::{Digest, Tool};

    use super::*;
    use crate::observation::Key;

    fn id(number: u64) -> Id {
        let digest = Digest::new(number);
        Id { call: digest, key: Key::new(digest), tool: Tool::new(0) }
    }

    /// Asserts that every index agrees with the entries.
    fn check(topics: &Topics) {
        let cells = topics.entries.values().map(|entry| entry.topic.cells.len());
        assert_eq!(topics.cells, cells.sum());
        assert!(topics.cells <= topics.limit);
        let lightest = topics.entries.iter().map(|(id, entry)| (entry.weight, *id));
        assert_eq!(topics.lightest, lightest.collect());
        let news = topics.entries.iter().filter_map(|(id, entry)| Some((entry.news?, *id)));
        assert_eq!(topics.news, news.collect());
        for entry in topics.entries.values() {
            assert!(entry.topic.cells.is_sorted_by_key(|cell| cell.worker));
            assert_eq!(entry.weight.0, entry.topic.weight());
        }
    }

    #[test]
    fn the_indexes_agree_with_the_entries() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut topics = Topics::new(20);
        for _ in 0..5_000 {
            let id = id(random.u64(..30));
            match random.u8(..8) {
                0..4 => {
                    let worker = Worker::new(random.u64(..4));
                    let more = |calls: &Calls| [calls[0], calls[1] + 1, calls[2]];
                    assert!(topics.raise(id, None, worker, more) || topics.cells == 20);
                    topics.settle(&id);
                }
                4 => topics.announce(&id, Urgency::Own),
                5 => topics.announce(&id, Urgency::Shared),
                6 => topics.retract(&id),
                _ if random.u8(..50) == 0 => topics.turn(random.u64(1..4)),
                _ => {}
            }
            check(&topics);
        }
    }
}
