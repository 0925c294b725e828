//! Convergence under loss, repetition and delay of frames: replicas reach the counts of a central counter,
//! and never exceed them.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_swarm::{Allowance, Replica, Rule};

use crate::model::{self, Central, HALF, found, frame_of, observation, replica, tool};

const REPLICAS: usize = 5;
const CALLS: u8 = 6;

/// An event in a swarm.
#[derive(Clone, Debug)]
enum Event {
    /// One of the two workers of a replica makes a call.
    Call { replica: usize, second: bool, call: u8 },
    /// A replica writes a frame.
    Send { from: usize },
    /// One of the frames on their way arrives. It may arrive again.
    Arrive { frame: prop::sample::Index, to: usize },
    /// One of the frames on their way is lost.
    Lose { frame: prop::sample::Index },
    /// Time passes.
    Wait { time: u64 },
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let replica = || 0..REPLICAS;
    let call = (replica(), any::<bool>(), 0..CALLS);
    let frame = any::<prop::sample::Index>;
    let event = prop_oneof![
        6 => call.prop_map(|(replica, second, call)| Event::Call { replica, second, call }),
        3 => replica().prop_map(|from| Event::Send { from }),
        3 => (frame(), replica()).prop_map(|(frame, to)| Event::Arrive { frame, to }),
        1 => frame().prop_map(|frame| Event::Lose { frame }),
        1 => (0..HALF).prop_map(|time| Event::Wait { time }),
    ];
    vec(event, 0..200)
}

fn rules() -> impl Strategy<Value = Rule> {
    let allowance = || {
        prop_oneof![
            4 => Just(Allowance::None),
            2 => Just(Allowance::Once),
            1 => Just(Allowance::Any),
        ]
    };
    (2..12_u32, 1..5_u32, allowance(), allowance()).prop_map(|(calls, workers, worked, own)| {
        model::rule(calls, workers).worked(worked).tool(tool(1), own)
    })
}

/// A swarm with its central counter.
struct Swarm {
    replicas: Vec<Replica>,
    central: Central,
    on_their_way: Vec<Vec<u8>>,
    now: u64,
}

impl Swarm {
    fn new(rule: &Rule) -> Self {
        Self {
            replicas: (0..REPLICAS).map(|number| replica(rule, number as u64)).collect(),
            central: Central::new(rule),
            on_their_way: Vec::new(),
            now: 5 * HALF,
        }
    }

    fn take_all(&mut self, events: &[Event]) {
        for event in events {
            self.take(event);
        }
    }

    fn take(&mut self, event: &Event) {
        let now = self.now;
        match event {
            Event::Call { replica, second, call } => {
                let worker = 2 * *replica as u64 + u64::from(*second);
                let observation = observation(worker, *call);
                self.central.record(&observation, now);
                let verdict = self.replicas[*replica].record(&observation, now);
                let expected = self.central.found(&observation, now);
                assert!(found(&verdict) <= expected, "{verdict:?} is more than {expected:?}");
            }
            Event::Send { from } => {
                let frame = frame_of(&mut self.replicas[*from], now);
                self.on_their_way.push(frame);
            }
            Event::Arrive { frame, to } if !self.on_their_way.is_empty() => {
                let frame = frame.get(&self.on_their_way);
                let before = self.replicas[*to].hottest(usize::MAX, now);
                let is_old = self.replicas[*to].merge(frame, now).is_err();
                let after = self.replicas[*to].hottest(usize::MAX, now);
                if is_old {
                    assert_eq!(before, after, "a frame was refused, and yet taken in");
                }
                for heat in before {
                    let grown = after.iter().find(|other| other.loop_id == heat.loop_id);
                    assert!(grown.is_some_and(|grown| grown.calls >= heat.calls), "{heat:?}");
                }
            }
            Event::Lose { frame } if !self.on_their_way.is_empty() => {
                let lost = frame.index(self.on_their_way.len());
                self.on_their_way.swap_remove(lost);
            }
            Event::Arrive { .. } | Event::Lose { .. } => {}
            Event::Wait { time } => self.now += time,
        }
    }

    /// Exchanges frames among all replicas, until as many frames as hold all cells bring no news.
    fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 50, "the replicas do not come to an end");
            let mut news = 0;
            for from in 0..REPLICAS {
                let frame = frame_of(&mut self.replicas[from], self.now);
                for to in &mut self.replicas {
                    if !frame.is_empty() {
                        news += to.merge(&frame, self.now).expect("a frame of now").news;
                    }
                }
            }
            if news == 0 && round > 3 {
                return;
            }
        }
    }
}

#[test]
fn the_confidence_of_a_replica_follows_its_counts() {
    for (call, calls, confidence) in
        [(0, 9, None), (0, 10, Some(75)), (0, 11, Some(88)), (1, 10, Some(100))]
    {
        let mut replica = replica(&model::rule(10, 2), 0);
        let mut said = None;
        for number in 0..calls {
            said = replica.record(&observation(number % 4, call), 0).finding;
        }
        assert_eq!(said.map(|finding| finding.confidence), confidence, "{calls} calls");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn replicas_come_to_know_what_one_counter_knows(rule in rules(), events in events()) {
        let mut swarm = Swarm::new(&rule);
        swarm.take_all(&events);
        swarm.settle();
        let now = swarm.now;
        for call in 0..CALLS {
            let like = observation(0, call);
            let expected = swarm.central.found(&like, now);
            prop_assert!(
                expected.map_or(0, |(_, _, rung)| rung) <= swarm.central.rung_without_shares(&like, now)
            );
            for replica in &mut swarm.replicas {
                let verdict = replica.look(like.call, now);
                prop_assert_eq!(found(&verdict), expected, "call {}", call);
            }
        }
    }

    #[test]
    fn all_calls_are_counted_where_no_worker_makes_more_than_its_share(events in events()) {
        // A cell counts at most 41 calls, and no worker makes more equal calls here.
        let mut swarm = Swarm::new(&model::rule(20, 2));
        let calls = events.iter().filter(|event| matches!(event, Event::Call { .. })).count();
        prop_assume!(calls <= 41 * 2);
        swarm.take_all(&events);
        swarm.settle();
        let now = swarm.now;
        for replica in &mut swarm.replicas {
            let heats = replica.hottest(usize::MAX, now);
            let found: Vec<_> = (0..CALLS).map(|call| {
                let id = observation(0, call).key().loop_id();
                let heat = heats.iter().find(|heat| heat.loop_id == id);
                heat.map_or((0, 0), |heat| (heat.calls, heat.workers))
            }).collect();
            let expected: Vec<_> =
                (0..CALLS).map(|call| swarm.central.heat(observation(0, call).key(), now)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_order_and_the_number_of_frames_change_nothing(
        rule in rules(),
        events in events(),
        mut order in vec((0..REPLICAS, 0..REPLICAS), 1..20),
    ) {
        let mut swarm = Swarm::new(&rule);
        swarm.take_all(&events);
        let now = swarm.now;
        let frames: Vec<_> =
            swarm.replicas.iter_mut().map(|replica| frame_of(replica, now)).collect();
        let known = |frames: &mut dyn Iterator<Item = &Vec<u8>>| {
            let mut fresh = replica(&rule, 99);
            for frame in frames.filter(|frame| !frame.is_empty()) {
                fresh.merge(frame, now).expect("a frame of now");
                assert_eq!(fresh.merge(frame, now).expect("it again").news, 0);
            }
            (fresh.hottest(usize::MAX, now), fresh.cells())
        };
        let once = known(&mut frames.iter());
        prop_assert_eq!(&known(&mut frames.iter().rev()), &once);
        for (one, other) in &order {
            prop_assert_eq!(
                known(&mut [*one, *other].iter().map(|place| &frames[*place])),
                known(&mut [*other, *one].iter().map(|place| &frames[*place]))
            );
        }
        // Each frame arrives at least once, some again, in any order.
        order.extend((0..REPLICAS).map(|place| (place, place)));
        let places = order.iter().flat_map(|(one, other)| [*one, *other]);
        prop_assert_eq!(known(&mut places.map(|place| &frames[place])), once);
    }
}
