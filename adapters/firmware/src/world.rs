//! The world that the robot is in: simulated, with faults, and with readings that are never still.

use core::fmt::{self, Write as _};

use crate::text::Text;

/// The longest answer of a tool, in bytes.
pub const ANSWER_MAX: usize = 120;

/// What is wrong with the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// A stone in front of the left wheel, which blocks it until the robot backs off.
    JammedWheel,
    /// A bolt that slips out of the gripper until that is opened wider.
    SlipperyBolt,
    /// A button that does not give until somebody oils it.
    StuckButton,
}

/// What a tool came back with.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What it says, as JSON.
    pub text: Text<ANSWER_MAX>,
    /// Whether the tool failed, which the robot knows without reading.
    pub failed: bool,
}

impl Answer {
    fn success(words: fmt::Arguments<'_>) -> Self {
        let mut text = Text::new();
        let _ = text.write_fmt(words);
        Self { text, failed: false }
    }

    fn failure(words: fmt::Arguments<'_>) -> Self {
        Self { failed: true, ..Self::success(words) }
    }
}

/// The simulated world. It has no clock but its own, so that every run is the same.
#[derive(Clone, Debug)]
pub struct World {
    now: u32,
    noise: u32,
    fault: Fault,
    heading: i32,
    /// The angle of the elbow, in tenths of a degree.
    elbow: i32,
    /// The charge of the battery, in halves of a percent.
    charge: i32,
}

impl World {
    /// The world when the robot is switched on.
    pub const fn new() -> Self {
        Self { now: 0, noise: 1, fault: Fault::None, heading: 0, elbow: 310, charge: 160 }
    }

    /// How long the robot has been on, in milliseconds.
    pub const fn now(&self) -> u32 {
        self.now
    }

    /// Lets `fault` be what is wrong from now on.
    pub const fn suffer(&mut self, fault: Fault) {
        self.fault = fault;
    }

    /// The robot uses `tool` with `args`, which are JSON.
    pub fn run(&mut self, tool: &str, args: &str) -> Answer {
        let elapsed = self.up_to(200, 900);
        self.now = self.now.saturating_add(elapsed);
        let mut answer = match tool {
            "drive" => self.drive(number(args, "cm")),
            "turn" => self.turn(number(args, "deg")),
            "move_joint" => self.move_joint(number(args, "by_deg")),
            // A servo that says no more than that it has heard.
            "set_joint" => return Answer::success(format_args!("ok")),
            "read_sensor" => self.read_battery(),
            "grip" => self.grip(),
            "open_gripper" => self.open_gripper(number(args, "width_mm")),
            "press" => self.press(),
            _ => Answer::failure(format_args!(r#"{{"error":"this robot has no such tool"}}"#)),
        };
        // How long it took is never the same. The text cuts what is too long, and so writing never
        // fails.
        let _ = write!(answer.text, " after {elapsed} ms");
        answer
    }

    fn drive(&mut self, cm: i32) -> Answer {
        let motor = self.celsius(41);
        if self.fault == Fault::JammedWheel && cm > 0 {
            let why = format_args!(r#"{{"error":"left wheel stalls","motor_c":{motor}}}"#);
            return Answer::failure(why);
        }
        if self.fault == Fault::JammedWheel {
            self.fault = Fault::None;
        }
        Answer::success(format_args!(r#"{{"moved_cm":{cm},"motor_c":{motor}}}"#))
    }

    fn turn(&mut self, deg: i32) -> Answer {
        self.heading = (self.heading + deg).rem_euclid(360);
        let (heading, now) = (self.heading, self.now);
        let seen = r#""dock":"not seen""#;
        Answer::success(format_args!(r#"{{"heading_deg":{heading},{seen},"up":"{now} ms"}}"#))
    }

    fn move_joint(&mut self, by: i32) -> Answer {
        // The arm sags a little, and never quite as much.
        self.elbow += by * 10 - i32::from(self.up_to(0, 3) > 0);
        let elbow = Tenths(self.elbow);
        Answer::success(format_args!(r#"{{"elbow_deg":{elbow},"goal_deg":60}}"#))
    }

    fn read_battery(&mut self) -> Answer {
        self.now = self.now.saturating_add(30_000);
        self.charge += 1;
        let (percent, cell) = (self.charge / 2, self.celsius(24));
        Answer::success(format_args!(r#"{{"charge_pct":{percent},"cell_c":{cell}}}"#))
    }

    fn grip(&mut self) -> Answer {
        let finger = self.celsius(29);
        match self.fault {
            Fault::SlipperyBolt => {
                let why = format_args!(r#"{{"error":"the bolt slips","finger_c":{finger}}}"#);
                Answer::failure(why)
            }
            _ => Answer::success(format_args!(r#"{{"held":"bolt","finger_c":{finger}}}"#)),
        }
    }

    fn open_gripper(&mut self, mm: i32) -> Answer {
        if self.fault == Fault::SlipperyBolt && mm > 10 {
            self.fault = Fault::None;
        }
        Answer::success(format_args!(r#"{{"width_mm":{mm}}}"#))
    }

    fn press(&self) -> Answer {
        let now = self.now;
        match self.fault {
            Fault::StuckButton => {
                Answer::failure(format_args!(r#"{{"error":"no click","up":"{now} ms"}}"#))
            }
            _ => Answer::success(format_args!(r#"{{"click":true,"up":"{now} ms"}}"#)),
        }
    }

    /// Some `degrees` Celsius, and a few tenths that mean nothing.
    fn celsius(&mut self, degrees: i32) -> Tenths {
        Tenths(degrees * 10 + i32::try_from(self.up_to(0, 10)).unwrap_or(0))
    }

    /// The next number of the noise, from `least` to below `end`.
    fn up_to(&mut self, least: u32, end: u32) -> u32 {
        // A generator of Numerical Recipes; its upper bits are the better ones.
        self.noise = self.noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        least + (self.noise >> 16) % end.saturating_sub(least).max(1)
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// A reading in tenths of its unit.
#[derive(Clone, Copy, Debug)]
struct Tenths(i32);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 10, self.0 % 10)
    }
}

/// The whole number that the member `name` of the flat object `args` has; 0 where there is none.
fn number(args: &str, name: &str) -> i32 {
    let members = args.trim_matches(['{', '}', ' ']).split(',');
    let mut pairs = members.filter_map(|member| member.split_once(':'));
    let value = pairs.find(|(key, _)| key.trim().trim_matches('"') == name);
    let digits = value.and_then(|(_, value)| value.trim().split('.').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Fault, World, number};

    #[test]
    fn members_are_read_whatever_their_order() {
        for (args, expected) in [
            (r#"{"cm":40}"#, 40),
            (r#"{ "speed": "slow", "cm": 40.0 }"#, 40),
            (r#"{"cm":-10,"deg":3}"#, -10),
            (r#"{"deg":3}"#, 0),
            (r#"{"cm":"far"}"#, 0),
            ("cm", 0),
            ("", 0),
        ] {
            assert_eq!(number(args, "cm"), expected, "{args}");
        }
    }

    #[test]
    fn a_fault_stays_until_the_right_thing_is_done() {
        for (fault, fails, cure) in [
            (Fault::JammedWheel, ("drive", r#"{"cm":40}"#), ("drive", r#"{"cm":-10}"#)),
            (Fault::SlipperyBolt, ("grip", "{}"), ("open_gripper", r#"{"width_mm":20}"#)),
        ] {
            let mut world = World::new();
            world.suffer(fault);
            let first = world.run(fails.0, fails.1);
            let second = world.run(fails.0, fails.1);
            assert!(first.failed && second.failed, "{fault:?}");
            assert_ne!(first.text.as_str(), second.text.as_str(), "no two readings are equal");
            assert!(!world.run(cure.0, cure.1).failed, "{fault:?}");
            assert!(!world.run(fails.0, fails.1).failed, "{fault:?}");
        }
    }

    #[test]
    fn a_tool_that_is_not_there_fails() {
        let answer = World::new().run("fly", "{}");
        assert!(answer.failed && answer.text.as_str().contains("no such tool"));
    }
}
