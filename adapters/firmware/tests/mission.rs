//! The mission on this machine: what the board logs, and that a reset changes no verdict.

use proptest::collection::vec as list;
use proptest::prelude::*;
use proptest::sample::select;
use unstuck_core::{Action, Verdict};
use unstuck_firmware::{
    Ask, Ended, FLASH_SIZE, Fault, Flash, Place, RECORD_MAX, SCENES, Store, Watch, World, run,
};

/// What the board logs, as `cargo xtask firmware` has read it.
const GOLDEN: &str = include_str!("../mission.log");

/// Starts the robot until it is home, with `memory` as its flash; what it logs from there on.
fn go_home(memory: &mut [u8; FLASH_SIZE]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = || run(Flash::over(memory), &mut |entry| lines.push(entry.to_string()));
    while start() == Ok(Ended::Reset) {}
    lines
}

/// The log of the mission, from its first start to its end.
fn log() -> Vec<String> {
    go_home(&mut [0; FLASH_SIZE])
}

/// The part of `log` that is about the order of scene `scene`.
fn part(log: &[String], scene: usize) -> Vec<&str> {
    let order = |scene: usize| SCENES.get(scene).map_or("the mission is over", |scene| scene.order);
    let lines = log.iter().map(String::as_str);
    let from =
        lines.skip_while(|line| !line.ends_with(&format!("a person says: {}", order(scene))));
    from.take_while(|line| !line.contains(order(scene + 1))).collect()
}

/// The words that the watch said in scene `scene`, in their order.
fn said(log: &[String], scene: usize) -> Vec<&str> {
    let found = part(log, scene).into_iter().filter(|line| line.contains(", rule "));
    found.filter_map(|line| line.split("WARN ").nth(1)?.split(':').next()).collect()
}

#[test]
fn the_board_and_this_machine_log_the_same() {
    let log = log();
    for (number, (ours, board)) in log.iter().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(ours, board, "line {}", number + 1);
    }
    assert_eq!(log.len(), GOLDEN.lines().count());
}

#[test]
fn every_scene_hears_what_it_should() {
    let log = log();
    for (scene, expected) in [
        // A jammed wheel, of a planner that never listens.
        ["nudge", "block", "block", "block", "stop"].as_slice(),
        // Two turns that work, which nothing proves to be useless, of one that listens to a warning.
        &["nudge", "warn"],
        // Two joints that move, and a battery that charges.
        &[],
        &[],
        &[],
        // A bolt that slips, before a reset and after.
        &["nudge"],
        // A button, where what was known of two calls was lost.
        &["nudge", "block"],
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(said(&log, scene), expected, "{}", SCENES[scene].order);
    }
}

#[test]
fn good_work_is_not_spoken_to() {
    let log = log();
    for scene in [2, 3, 4] {
        let part = part(&log, scene);
        assert!(part.len() > 8, "{part:?}");
        assert!(part.iter().all(|line| !line.contains("WARN")), "{part:?}");
    }
}

/// What a watch is told.
#[derive(Clone, Copy, Debug)]
struct Event {
    ask: Ask,
    fault: Fault,
}

/// Tells `watch` of a call in a world with that fault.
fn tell(watch: &mut Watch, world: &mut World, event: Event) -> Verdict {
    let Event { ask, fault } = event;
    world.suffer(fault);
    let announced = watch.announce(ask);
    let after = if announced.verdict.action >= Action::Block {
        watch.refused(announced.id)
    } else {
        let answer = world.run(ask.tool, ask.args);
        watch.outcome(announced.id, ask, &answer)
    };
    announced.verdict.or_stronger(after)
}

/// The watch that goes on from what `watch` saves in flash.
fn after_a_reset(watch: &Watch, place: Place) -> Watch {
    let (mut memory, mut buffer) = ([0; FLASH_SIZE], [0; RECORD_MAX]);
    let record = watch.save(&place, &mut buffer).expect("a slot is long enough");
    Store::over(Flash::over(&mut memory)).save(record).expect("the power holds");
    let store = Store::over(Flash::over(&mut memory));
    let newest = store.newest().next().expect("it was saved");
    let mut resumed = Watch::new().unwrap();
    assert_eq!(resumed.resume(newest.bytes), Ok(place));
    resumed
}

fn event() -> impl Strategy<Value = Event> {
    let asks = [
        ("drive", r#"{"cm":40}"#),
        ("drive", r#"{"cm":-10}"#),
        ("turn", r#"{"deg":30}"#),
        ("turn", r#"{"deg":-30}"#),
        ("grip", r#"{"force_n":3}"#),
        ("read_sensor", r#"{"sensor":"battery"}"#),
        ("fly", "up"),
    ];
    let asks = asks.map(|(tool, args)| Ask { tool, args });
    let faults = [Fault::None, Fault::JammedWheel, Fault::SlipperyBolt];
    (select(asks.to_vec()), select(faults.to_vec())).prop_map(|(ask, fault)| Event { ask, fault })
}

proptest! {
    #[test]
    fn a_loop_is_found_at_the_same_call_whenever_the_robot_is_reset(
        events in list(event(), 1..40),
        resets in list(any::<bool>(), 40),
        repeats in 1_usize..9,
    ) {
        let (mut steady, mut reset) = (Watch::new().unwrap(), Watch::new().unwrap());
        let (mut world, mut other) = (World::new(), World::new());
        let all = events.iter().flat_map(|event| std::iter::repeat_n(*event, repeats));
        for (event, is_reset) in all.zip(resets.into_iter().cycle()) {
            let expected = tell(&mut steady, &mut world, event);
            prop_assert_eq!(tell(&mut reset, &mut other, event), expected);
            if is_reset {
                reset = after_a_reset(&reset, Place { boot: 7, scene: 1, calls: 9, turned: None });
            }
        }
    }

    #[test]
    fn a_robot_starts_whatever_is_in_its_flash(
        record in list(any::<u8>(), 0..400),
        places in list((0_usize..600, any::<u8>()), 0..4),
    ) {
        // Bytes that were saved in good order, and are none of this firmware's; and its own, damaged.
        let mut own = [0; RECORD_MAX];
        let own = Watch::new().unwrap().save(&Place::default(), &mut own).unwrap().to_vec();
        let mut damaged = own.clone();
        for (place, byte) in places {
            if let Some(there) = damaged.get_mut(place) {
                *there = byte;
            }
        }
        for bytes in [record, damaged] {
            let mut flash = [0; FLASH_SIZE];
            Store::over(Flash::over(&mut flash)).save(&bytes).unwrap();
            let lines = go_home(&mut flash);
            let is_one = Watch::new().unwrap().resume(&bytes).is_ok();
            prop_assert_eq!(lines[0].contains("going on"), is_one, "{}", lines[0]);
        }
    }
}

#[test]
fn a_mission_ends_though_its_flash_is_worn() {
    let mut flash = [0; FLASH_SIZE];
    assert_eq!(run(Flash::over(&mut flash), &mut |_| ()), Ok(Ended::Reset));
    let (a, b) = (0, FLASH_SIZE / 2);
    for place in (0..300).step_by(7) {
        for slots in [[a, a], [b, b], [a, b]] {
            let mut worn = flash;
            for slot in slots {
                worn[slot + place] = !flash[slot + place];
            }
            let log = go_home(&mut worn);
            assert!(log[log.len() - 1].contains("the mission is over"), "{place} {slots:?}");
        }
    }
}

#[test]
fn a_mission_ends_whenever_the_power_goes() {
    // More than the first start erases and writes, in steps that fall on every kind of byte.
    let mut losses = Vec::new();
    for power in (0..40_000).step_by(97) {
        let mut memory = [0; FLASH_SIZE];
        let mut flash = Flash::over(&mut memory);
        flash.lose_power_after(power);
        let mut log = Vec::new();
        let first = run(flash, &mut |entry| log.push(entry.to_string()));
        assert_eq!(first, Ok(Ended::Reset), "after {power} bytes");
        losses.push(log.iter().any(|line| line.contains("the power went")));
        log.extend(go_home(&mut memory));
        assert!(log[log.len() - 1].contains("the mission is over"), "after {power} bytes");
        // A word may come twice, since the last call may be made again.
        let mut words = said(&log, 0);
        words.dedup();
        assert_eq!(words, ["nudge", "block", "stop"], "after {power} bytes");
        for scene in [2, 3, 4] {
            assert_eq!(said(&log, scene), [""; 0], "after {power} bytes");
        }
    }
    assert_eq!((losses.first(), losses.last()), (Some(&true), Some(&false)));
}
