//! The planner: what a language model would ask for, from a script.

use serde::{Deserialize, Serialize};
use unstuck_core::Action;

use crate::world::Fault;

/// A call that the planner asks for: a tool, and its arguments as the model wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The name of the tool.
    pub tool: &'static str,
    /// Raw JSON.
    pub args: &'static str,
}

/// What befalls the robot itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// Nothing.
    None,
    /// The processor is reset once the robot has been switched on so often and this many calls of
    /// the scene have been made.
    Reset {
        /// Which start of the robot it befalls, counted from 1.
        boot: u16,
        /// How many calls come before it.
        calls: u16,
    },
    /// The power goes in the middle of what is saved after as many calls.
    PowerCut {
        /// Which start of the robot it befalls, counted from 1.
        boot: u16,
        /// After how many calls.
        calls: u16,
    },
}

/// An order, and what the planner makes of it.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// What a person tells the robot to do.
    pub order: &'static str,
    /// What is wrong with the world.
    pub fault: Fault,
    /// What the planner asks for, again and again.
    routine: &'static [Ask],
    /// How many calls it makes of that, at most.
    calls: u16,
    /// From which word of the watch on it listens.
    listens_from: Action,
    /// What it asks for instead, each once.
    instead: &'static [Ask],
    /// What befalls the robot.
    pub mishap: Mishap,
}

const fn ask(tool: &'static str, args: &'static str) -> Ask {
    Ask { tool, args }
}

/// The mission: one scene after the other.
pub static SCENES: [Scene; 7] = [
    Scene {
        order: "drive to the hall",
        fault: Fault::JammedWheel,
        // The same call, however it is spelled.
        routine: &[
            ask("drive", r#"{"cm":40,"speed":"slow"}"#),
            ask("drive", r#"{"speed": "slow", "cm": 40.0}"#),
        ],
        calls: 20,
        listens_from: Action::Stop,
        instead: &[],
        mishap: Mishap::None,
    },
    Scene {
        order: "find the dock",
        fault: Fault::None,
        routine: &[ask("turn", r#"{"deg":-30}"#), ask("turn", r#"{"deg":30}"#)],
        calls: 20,
        listens_from: Action::Warn,
        instead: &[ask("drive", r#"{"cm":80,"speed":"slow"}"#)],
        mishap: Mishap::None,
    },
    Scene {
        order: "raise the elbow to 60 degrees",
        fault: Fault::None,
        routine: &[ask("move_joint", r#"{"joint":"elbow","by_deg":2}"#)],
        calls: 14,
        listens_from: Action::Nudge,
        instead: &[],
        mishap: Mishap::None,
    },
    Scene {
        order: "turn the wrist to 54 degrees",
        fault: Fault::None,
        // Each call is another one, and is answered with nothing but `ok`.
        routine: &[
            ask("set_joint", r#"{"joint":"wrist","to_deg":40}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":42}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":44}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":46}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":48}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":50}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":52}"#),
            ask("set_joint", r#"{"joint":"wrist","to_deg":54}"#),
        ],
        calls: 8,
        listens_from: Action::Nudge,
        instead: &[],
        mishap: Mishap::None,
    },
    Scene {
        order: "charge the battery to 86 %",
        fault: Fault::None,
        routine: &[ask("read_sensor", r#"{"sensor":"battery"}"#)],
        calls: 12,
        listens_from: Action::Nudge,
        instead: &[],
        mishap: Mishap::None,
    },
    Scene {
        order: "pick up the bolt",
        fault: Fault::SlipperyBolt,
        routine: &[ask("grip", r#"{"force_n":3}"#)],
        calls: 20,
        listens_from: Action::Nudge,
        instead: &[ask("open_gripper", r#"{"width_mm":20}"#), ask("grip", r#"{"force_n":3}"#)],
        mishap: Mishap::Reset { boot: 1, calls: 2 },
    },
    Scene {
        order: "call the lift",
        fault: Fault::StuckButton,
        routine: &[ask("press", r#"{"button":"lift"}"#)],
        calls: 20,
        listens_from: Action::Warn,
        instead: &[ask("turn", r#"{"deg":180}"#), ask("drive", r#"{"cm":40,"speed":"slow"}"#)],
        mishap: Mishap::PowerCut { boot: 2, calls: 2 },
    },
];

/// How far the mission is: what the robot saves of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// How often the robot has been switched on.
    pub boot: u16,
    /// The scene, counted from 0.
    pub scene: u8,
    /// How many calls of the scene were made.
    pub calls: u16,
    /// How many calls had been made when the planner began to listen.
    pub turned: Option<u16>,
}

impl Place {
    /// The scene that is on, until the mission is over.
    pub fn scene(&self) -> Option<&'static Scene> {
        SCENES.get(usize::from(self.scene))
    }

    /// The call that the planner asks for next; `None` where it is done with the scene.
    pub fn next(&self, scene: &Scene) -> Option<Ask> {
        if let Some(turned) = self.turned {
            let since = self.calls.checked_sub(turned)?;
            return scene.instead.get(usize::from(since)).copied();
        }
        let round = usize::from(self.calls).checked_rem(scene.routine.len())?;
        (self.calls < scene.calls).then(|| scene.routine.get(round).copied())?
    }

    /// The call has been made, and the planner was told to take this action.
    pub fn advance(&mut self, scene: &Scene, told: Action) {
        self.calls = self.calls.saturating_add(1);
        if self.turned.is_none() && told >= scene.listens_from {
            self.turned = Some(self.calls);
        }
    }

    /// The scene is over.
    pub const fn leave(&mut self) {
        self.scene = self.scene.saturating_add(1);
        self.calls = 0;
        self.turned = None;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use unstuck_core::Action;

    use super::{Place, SCENES};

    /// The tools that the planner asks for in scene `scene`, if it is told `told` at each call.
    fn tools(scene: u8, told: Action) -> Vec<&'static str> {
        let mut place = Place { scene, ..Place::default() };
        let scene = place.scene().expect("a scene");
        let mut tools = Vec::new();
        while let Some(ask) = place.next(scene) {
            tools.push(ask.tool);
            place.advance(scene, told);
        }
        tools
    }

    #[test]
    fn a_planner_goes_on_until_it_is_told_something_that_it_listens_to() {
        for (scene, told, expected) in [
            (5, Action::Proceed, ["grip"; 20].as_slice()),
            (5, Action::Nudge, &["grip", "open_gripper", "grip"]),
            (6, Action::Nudge, &["press"; 20]),
            (6, Action::Warn, &["press", "turn", "drive"]),
            (2, Action::Proceed, &["move_joint"; 14]),
        ] {
            assert_eq!(tools(scene, told), expected, "{scene} {told:?}");
        }
    }

    #[test]
    fn every_scene_ends() {
        for scene in 0..u8::try_from(SCENES.len()).expect("a few") {
            for told in Action::ALL {
                assert!(!tools(scene, told).is_empty(), "{scene} {told:?}");
            }
        }
    }
}
