//! The planner: a script that asks for calls as a language model would.

use serde::{Deserialize, Serialize};
use unstuck_core::Action;

use crate::world::Fault;

/// A call that the planner asks for, with the arguments as the model wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The name of the tool.
    pub tool: &'static str,
    /// Raw JSON.
    pub args: &'static str,
}

/// An accident of the robot itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// No accident.
    None,
    /// The processor is reset during start `boot`, after `calls` calls of the scene.
    Reset {
        /// The start of the robot, counted from 1.
        boot: u16,
        /// The number of calls before it.
        calls: u16,
    },
    /// The power goes in the middle of a save.
    PowerCut {
        /// The start of the robot, counted from 1.
        boot: u16,
        /// The number of calls before it.
        calls: u16,
    },
}

/// An order, and the calls that the planner asks for.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The order of a person.
    pub order: &'static str,
    /// The fault of the world.
    pub fault: Fault,
    /// The calls that the planner asks for, again and again.
    routine: &'static [ToolCall],
    /// The largest number of calls from the routine.
    calls: u16,
    /// The weakest action that the planner listens to.
    listens_from: Action,
    /// The calls that it asks for once it listens, each once.
    instead: &'static [ToolCall],
    /// The accident of the robot.
    pub mishap: Mishap,
}

const fn call(tool: &'static str, args: &'static str) -> ToolCall {
    ToolCall { tool, args }
}

/// A scene of whose circumstances nothing is said: the planner listens to the first nudge, and asks for no more calls.
const SCENE: Scene = Scene {
    order: "",
    fault: Fault::None,
    routine: &[],
    calls: 0,
    listens_from: Action::Nudge,
    instead: &[],
    mishap: Mishap::None,
};

/// The mission: one scene after the other.
pub static SCENES: [Scene; 7] = [
    Scene {
        order: "drive to the hall",
        fault: Fault::JammedWheel,
        // The same call in two spellings.
        routine: &[
            call("drive", r#"{"cm":40,"speed":"slow"}"#),
            call("drive", r#"{"speed": "slow", "cm": 40.0}"#),
        ],
        calls: 20,
        listens_from: Action::Stop,
        ..SCENE
    },
    Scene {
        order: "find the dock",
        routine: &[call("turn", r#"{"deg":-30}"#), call("turn", r#"{"deg":30}"#)],
        calls: 20,
        listens_from: Action::Warn,
        instead: &[call("drive", r#"{"cm":80,"speed":"slow"}"#)],
        ..SCENE
    },
    Scene {
        order: "raise the elbow to 60 degrees",
        routine: &[call("move_joint", r#"{"joint":"elbow","by_deg":2}"#)],
        calls: 14,
        ..SCENE
    },
    Scene {
        order: "turn the wrist to 54 degrees",
        // Each call differs, and every result is `ok`.
        routine: &[
            call("set_joint", r#"{"joint":"wrist","to_deg":40}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":42}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":44}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":46}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":48}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":50}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":52}"#),
            call("set_joint", r#"{"joint":"wrist","to_deg":54}"#),
        ],
        calls: 8,
        ..SCENE
    },
    Scene {
        order: "charge the battery to 86 %",
        routine: &[call("read_sensor", r#"{"sensor":"battery"}"#)],
        calls: 12,
        ..SCENE
    },
    Scene {
        order: "pick up the bolt",
        fault: Fault::SlipperyBolt,
        routine: &[call("grip", r#"{"force_n":3}"#)],
        calls: 20,
        instead: &[call("open_gripper", r#"{"width_mm":20}"#), call("grip", r#"{"force_n":3}"#)],
        mishap: Mishap::Reset { boot: 1, calls: 2 },
        ..SCENE
    },
    Scene {
        order: "call the lift",
        fault: Fault::StuckButton,
        routine: &[call("press", r#"{"button":"lift"}"#)],
        calls: 20,
        listens_from: Action::Warn,
        instead: &[call("turn", r#"{"deg":180}"#), call("drive", r#"{"cm":40,"speed":"slow"}"#)],
        mishap: Mishap::PowerCut { boot: 2, calls: 2 },
    },
];

/// The progress of the mission, which the robot saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissionState {
    /// The number of starts of the robot.
    pub boot: u16,
    /// The scene, counted from 0.
    pub scene: u8,
    /// The number of calls in the scene so far.
    pub calls: u16,
    /// The number of calls in the scene when the planner began to listen.
    pub listening_since: Option<u16>,
}

impl MissionState {
    /// Returns the current scene, or `None` after the mission.
    pub fn scene(&self) -> Option<&'static Scene> {
        SCENES.get(usize::from(self.scene))
    }

    /// Returns the next call that the planner asks for, or `None` at the end of the scene.
    pub fn next(&self, scene: &Scene) -> Option<ToolCall> {
        if let Some(start) = self.listening_since {
            let since = self.calls.checked_sub(start)?;
            return scene.instead.get(usize::from(since)).copied();
        }
        let round = usize::from(self.calls).checked_rem(scene.routine.len())?;
        (self.calls < scene.calls).then(|| scene.routine.get(round).copied())?
    }

    /// Counts a call, whose verdict asked for `action`.
    pub fn advance(&mut self, scene: &Scene, action: Action) {
        self.calls = self.calls.saturating_add(1);
        if self.listening_since.is_none() && action >= scene.listens_from {
            self.listening_since = Some(self.calls);
        }
    }

    /// Ends the scene.
    pub const fn leave(&mut self) {
        self.scene = self.scene.saturating_add(1);
        self.calls = 0;
        self.listening_since = None;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use unstuck_core::Action;

    use super::{MissionState, SCENES};

    /// Returns the tools that the planner asks for in scene `scene`, if each verdict asks for `action`.
    fn tools(scene: u8, action: Action) -> Vec<&'static str> {
        let mut mission = MissionState { scene, ..MissionState::default() };
        let scene = mission.scene().expect("a scene");
        let mut tools = Vec::new();
        while let Some(call) = mission.next(scene) {
            tools.push(call.tool);
            mission.advance(scene, action);
        }
        tools
    }

    #[test]
    fn a_planner_repeats_its_routine_until_it_listens() {
        for (scene, action, expected) in [
            (5, Action::Proceed, ["grip"; 20].as_slice()),
            (5, Action::Nudge, &["grip", "open_gripper", "grip"]),
            (6, Action::Nudge, &["press"; 20]),
            (6, Action::Warn, &["press", "turn", "drive"]),
            (2, Action::Proceed, &["move_joint"; 14]),
        ] {
            assert_eq!(tools(scene, action), expected, "{scene} {action:?}");
        }
    }

    #[test]
    fn every_scene_ends() {
        for scene in 0..u8::try_from(SCENES.len()).expect("a few") {
            for action in Action::ALL {
                assert!(!tools(scene, action).is_empty(), "{scene} {action:?}");
            }
        }
    }
}
