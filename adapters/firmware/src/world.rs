//! A simulated world with faults and with noisy readings.

use core::fmt::{self, Write as _};

use crate::text::Text;

/// The longest result of a tool, in bytes.
pub const RESULT_MAX: usize = 120;

/// A fault of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// A stone blocks the left wheel until the robot backs off.
    JammedWheel,
    /// A bolt slips out of the gripper until the gripper is opened wider.
    SlipperyBolt,
    /// A button is stuck until a person oils it.
    StuckButton,
}

/// The result of a tool.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// The text of the result, as JSON.
    pub text: Text<RESULT_MAX>,
    /// Whether the tool failed. The robot knows this without reading the text.
    pub failed: bool,
}

impl ToolResult {
    fn success(words: fmt::Arguments<'_>) -> Self {
        let mut text = Text::new();
        let _ = text.write_fmt(words);
        Self { text, failed: false }
    }

    fn failure(words: fmt::Arguments<'_>) -> Self {
        Self { failed: true, ..Self::success(words) }
    }
}

/// The simulated world. It has a clock of its own, so every run is the same.
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
    /// Creates the world as it is when the robot is switched on.
    pub const fn new() -> Self {
        Self { now: 0, noise: 1, fault: Fault::None, heading: 0, elbow: 310, charge: 160 }
    }

    /// Returns the time since the robot was switched on, in milliseconds.
    pub const fn now(&self) -> u32 {
        self.now
    }

    /// Replaces the current fault by `fault`.
    pub const fn suffer(&mut self, fault: Fault) {
        self.fault = fault;
    }

    /// Runs `tool` with `args`, a JSON text.
    pub fn run(&mut self, tool: &str, args: &str) -> ToolResult {
        let elapsed = self.up_to(200, 900);
        self.now = self.now.saturating_add(elapsed);
        let mut result = match tool {
            "drive" => self.drive(number(args, "cm")),
            "turn" => self.turn(number(args, "deg")),
            "move_joint" => self.move_joint(number(args, "by_deg")),
            // This servo only acknowledges the command.
            "set_joint" => return ToolResult::success(format_args!("ok")),
            "read_sensor" => self.read_battery(),
            "grip" => self.grip(),
            "open_gripper" => self.open_gripper(number(args, "width_mm")),
            "press" => self.press(),
            _ => ToolResult::failure(format_args!(r#"{{"error":"this robot has no such tool"}}"#)),
        };
        // The duration differs each time. Writing never fails, because the text cuts what is too long.
        let _ = write!(result.text, " after {elapsed} ms");
        result
    }

    fn drive(&mut self, cm: i32) -> ToolResult {
        let motor = self.celsius(41);
        if self.fault == Fault::JammedWheel && cm > 0 {
            let why = format_args!(r#"{{"error":"left wheel stalls","motor_c":{motor}}}"#);
            return ToolResult::failure(why);
        }
        if self.fault == Fault::JammedWheel {
            self.fault = Fault::None;
        }
        ToolResult::success(format_args!(r#"{{"moved_cm":{cm},"motor_c":{motor}}}"#))
    }

    fn turn(&mut self, deg: i32) -> ToolResult {
        self.heading = (self.heading + deg).rem_euclid(360);
        let (heading, now) = (self.heading, self.now);
        let seen = r#""dock":"not seen""#;
        ToolResult::success(format_args!(r#"{{"heading_deg":{heading},{seen},"up":"{now} ms"}}"#))
    }

    fn move_joint(&mut self, by: i32) -> ToolResult {
        // The arm sags by a small, varying amount.
        self.elbow += by * 10 - i32::from(self.up_to(0, 3) > 0);
        let elbow = Tenths(self.elbow);
        ToolResult::success(format_args!(r#"{{"elbow_deg":{elbow},"goal_deg":60}}"#))
    }

    fn read_battery(&mut self) -> ToolResult {
        self.now = self.now.saturating_add(30_000);
        self.charge += 1;
        let (percent, cell) = (self.charge / 2, self.celsius(24));
        ToolResult::success(format_args!(r#"{{"charge_pct":{percent},"cell_c":{cell}}}"#))
    }

    fn grip(&mut self) -> ToolResult {
        let finger = self.celsius(29);
        match self.fault {
            Fault::SlipperyBolt => {
                let why = format_args!(r#"{{"error":"the bolt slips","finger_c":{finger}}}"#);
                ToolResult::failure(why)
            }
            _ => ToolResult::success(format_args!(r#"{{"held":"bolt","finger_c":{finger}}}"#)),
        }
    }

    fn open_gripper(&mut self, mm: i32) -> ToolResult {
        if self.fault == Fault::SlipperyBolt && mm > 10 {
            self.fault = Fault::None;
        }
        ToolResult::success(format_args!(r#"{{"width_mm":{mm}}}"#))
    }

    fn press(&self) -> ToolResult {
        let now = self.now;
        match self.fault {
            Fault::StuckButton => {
                ToolResult::failure(format_args!(r#"{{"error":"no click","up":"{now} ms"}}"#))
            }
            _ => ToolResult::success(format_args!(r#"{{"click":true,"up":"{now} ms"}}"#)),
        }
    }

    /// Returns a temperature of `degrees` Celsius with noise below one degree.
    fn celsius(&mut self, degrees: i32) -> Tenths {
        Tenths(degrees * 10 + i32::try_from(self.up_to(0, 10)).unwrap_or(0))
    }

    /// Returns the next random number from `least` to below `end`.
    fn up_to(&mut self, least: u32, end: u32) -> u32 {
        // The linear generator of Numerical Recipes. Its upper bits are better than its lower bits.
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

/// Returns the integer part of the member `name` of the flat object `args`, or 0 if it has no number.
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
    fn an_unknown_tool_fails() {
        let result = World::new().run("fly", "{}");
        assert!(result.failed && result.text.as_str().contains("no such tool"));
    }
}
