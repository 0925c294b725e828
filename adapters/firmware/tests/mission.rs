//! The mission on a computer: it logs what the board logs, and a reset changes no verdict.

use proptest::collection::vec as list;
use proptest::prelude::*;
use proptest::sample::select;
use unstuck_core::Verdict;
use unstuck_firmware::{
    Exit, FLASH_SIZE, Fault, Flash, MissionState, RECORD_MAX, SCENES, Store, Supervisor, ToolCall,
    World, run,
};

/// The log of the board, as `cargo xtask firmware` decoded it.
const GOLDEN: &str = include_str!("../mission.log");

/// Starts the robot with `memory` as its flash until the mission ends. Returns its log.
fn go_home(memory: &mut [u8; FLASH_SIZE]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = || run(Flash::over(memory), &mut |entry| lines.push(entry.to_string()));
    while start() == Ok(Exit::Reset) {}
    lines
}

/// Returns the log of a whole mission.
fn log() -> Vec<String> {
    go_home(&mut [0; FLASH_SIZE])
}

/// Returns the part of `log` about the order of scene `scene`.
fn part(log: &[String], scene: usize) -> Vec<&str> {
    let order = |scene: usize| SCENES.get(scene).map_or("the mission is over", |scene| scene.order);
    let lines = log.iter().map(String::as_str);
    let from =
        lines.skip_while(|line| !line.ends_with(&format!("a person says: {}", order(scene))));
    from.take_while(|line| !line.contains(order(scene + 1))).collect()
}

/// Returns the actions of the verdicts in scene `scene`, in their order.
fn actions(log: &[String], scene: usize) -> Vec<&str> {
    let verdicts = part(log, scene).into_iter().filter(|line| line.contains(", rule "));
    verdicts.filter_map(|line| line.split("WARN ").nth(1)?.split(':').next()).collect()
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
fn every_scene_gets_its_verdicts() {
    let log = log();
    for (scene, expected) in [
        // A jammed wheel, with a planner that never listens.
        ["nudge", "block", "block", "block", "stop"].as_slice(),
        // Two turns that work, with a planner that listens to a warning. No proof says that they are useless.
        &["nudge", "warn"],
        // Two joints that move, and a battery that charges.
        &[],
        &[],
        &[],
        // A bolt that slips, before a reset and after.
        &["nudge"],
        // A button, where the state of two calls was lost.
        &["nudge", "block"],
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(actions(&log, scene), expected, "{}", SCENES[scene].order);
    }
}

#[test]
fn good_work_gets_no_warning() {
    let log = log();
    for scene in [2, 3, 4] {
        let part = part(&log, scene);
        assert!(part.len() > 8, "{part:?}");
        assert!(part.iter().all(|line| !line.contains("WARN")), "{part:?}");
    }
}

/// A call, in a world with a fault.
#[derive(Clone, Copy, Debug)]
struct Event {
    call: ToolCall,
    fault: Fault,
}

/// Runs a call under `supervisor`. Returns the stronger of its verdicts.
fn play(supervisor: &mut Supervisor, world: &mut World, event: Event) -> Verdict {
    let Event { call, fault } = event;
    world.suffer(fault);
    let announced = supervisor.announce(call);
    let after = if announced.is_blocked() {
        supervisor.vetoed(announced.ticket)
    } else {
        let result = world.run(call.tool, call.args);
        supervisor.outcome(announced.ticket, call, &result)
    };
    announced.verdict.or_stronger(after)
}

/// Saves `supervisor` in flash. Returns a supervisor that continues from there.
fn after_a_reset(supervisor: &Supervisor, mission: MissionState) -> Supervisor {
    let (mut memory, mut buffer) = ([0; FLASH_SIZE], [0; RECORD_MAX]);
    let record = supervisor.save(&mission, &mut buffer).expect("a slot is long enough");
    Store::over(Flash::over(&mut memory)).save(record).expect("the power holds");
    let store = Store::over(Flash::over(&mut memory));
    let newest = store.newest().next().expect("it was saved");
    let mut resumed = Supervisor::new().unwrap();
    assert_eq!(resumed.resume(newest.bytes), Ok(mission));
    resumed
}

fn event() -> impl Strategy<Value = Event> {
    let calls = [
        ("drive", r#"{"cm":40}"#),
        ("drive", r#"{"cm":-10}"#),
        ("turn", r#"{"deg":30}"#),
        ("turn", r#"{"deg":-30}"#),
        ("grip", r#"{"force_n":3}"#),
        ("read_sensor", r#"{"sensor":"battery"}"#),
        ("fly", "up"),
    ];
    let calls = calls.map(|(tool, args)| ToolCall { tool, args });
    let faults = [Fault::None, Fault::JammedWheel, Fault::SlipperyBolt];
    (select(calls.to_vec()), select(faults.to_vec()))
        .prop_map(|(call, fault)| Event { call, fault })
}

proptest! {
    #[test]
    fn a_loop_is_found_at_the_same_call_whenever_the_robot_is_reset(
        events in list(event(), 1..40),
        resets in list(any::<bool>(), 40),
        repeats in 1_usize..9,
    ) {
        let (mut steady, mut reset) = (Supervisor::new().unwrap(), Supervisor::new().unwrap());
        let (mut world, mut other) = (World::new(), World::new());
        let all = events.iter().flat_map(|event| std::iter::repeat_n(*event, repeats));
        for (event, is_reset) in all.zip(resets.into_iter().cycle()) {
            let expected = play(&mut steady, &mut world, event);
            prop_assert_eq!(play(&mut reset, &mut other, event), expected);
            if is_reset {
                let mission = MissionState { boot: 7, scene: 1, calls: 9, listening_since: None };
                reset = after_a_reset(&reset, mission);
            }
        }
    }

    #[test]
    fn a_robot_starts_whatever_is_in_its_flash(
        record in list(any::<u8>(), 0..400),
        places in list((0_usize..600, any::<u8>()), 0..4),
    ) {
        // Any bytes in a complete record, and a damaged state of this firmware.
        let mut own = [0; RECORD_MAX];
        let own = Supervisor::new().unwrap().save(&MissionState::default(), &mut own).unwrap().to_vec();
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
            let is_usable = Supervisor::new().unwrap().resume(&bytes).is_ok();
            prop_assert_eq!(lines[0].contains("going on"), is_usable, "{}", lines[0]);
        }
    }
}

#[test]
fn a_mission_ends_though_its_flash_is_worn() {
    let mut flash = [0; FLASH_SIZE];
    assert_eq!(run(Flash::over(&mut flash), &mut |_| ()), Ok(Exit::Reset));
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
    // The largest value is more than the first start erases and writes. The step is prime to the layout.
    let mut losses = Vec::new();
    for power in (0..40_000).step_by(97) {
        let mut memory = [0; FLASH_SIZE];
        let mut flash = Flash::over(&mut memory);
        flash.lose_power_after(power);
        let mut log = Vec::new();
        let first = run(flash, &mut |entry| log.push(entry.to_string()));
        assert_eq!(first, Ok(Exit::Reset), "after {power} bytes");
        losses.push(log.iter().any(|line| line.contains("the power went")));
        log.extend(go_home(&mut memory));
        assert!(log[log.len() - 1].contains("the mission is over"), "after {power} bytes");
        // An action may come twice, because the last call may be repeated after the cut.
        let mut actions_of_drive = actions(&log, 0);
        actions_of_drive.dedup();
        assert_eq!(actions_of_drive, ["nudge", "block", "stop"], "after {power} bytes");
        for scene in [2, 3, 4] {
            assert_eq!(actions(&log, scene), [""; 0], "after {power} bytes");
        }
    }
    assert_eq!((losses.first(), losses.last()), (Some(&true), Some(&false)));
}
