//! The checkpoint of a replay: its idle workers, and the state of their loops.
//!
//! A replay that continues from its checkpoint has the same findings as one without a break.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unstuck_text::Preset;

use super::open_loops::OpenLoops;
use super::worker::IdleWorker;
use super::{Limits, Place, Replay};

/// The elements for which a node of a `BTreeMap` has room.
const NODE: usize = 11;

/// What a replay at rest consists of, beside its policy and its limits.
#[derive(Default, Serialize, Deserialize)]
pub struct ReplayCheckpoint {
    /// The idle workers, by the clock of their latest event.
    pub(super) idle: BTreeMap<u64, IdleWorker>,
    /// The number of workers so far, and of those that were finished because of a limit.
    pub(super) workers_ever: u64,
    pub(super) forgotten: usize,
    pub(super) open_loops: OpenLoops,
    pub(super) calls: usize,
    /// The number of events so far, which shows which worker was idle longest.
    pub(super) clock: u64,
}

impl Replay {
    /// Limits the workers to `workers`, of which one is active at a time, and idle ones to `idle_bytes`.
    #[must_use]
    pub fn limited(self, workers: usize, idle_bytes: usize) -> Self {
        Self { limits: Limits { active: 1, workers, idle_bytes }, ..self }
    }

    /// Names no consequence in the messages of findings, because nobody acts on them.
    #[must_use]
    pub fn observing(self) -> Self {
        Self { observes: true, ..self }
    }

    /// Makes all workers idle. Returns the bytes that they take.
    pub fn make_all_idle(&mut self) -> usize {
        self.idle_stalest(self.workers.len());
        self.workers = Vec::new();
        // The workers themselves are counted.
        let free = self.state.idle.len().next_multiple_of(NODE) - self.state.idle.len();
        self.idle_bytes + free * size_of::<(u64, IdleWorker)>()
    }

    /// Returns the policy.
    pub const fn preset(&self) -> &'static Preset {
        self.preset
    }

    /// Makes all workers idle and returns the state. Findings have to be taken before, and the steps of a loop to
    /// explain are left out.
    pub fn checkpoint(&mut self) -> &ReplayCheckpoint {
        self.make_all_idle();
        &self.state
    }

    /// Returns the replay as it was at its checkpoint, by the same policy. Returns `None` if the bytes of
    /// a worker cannot be read.
    pub fn resumed(preset: &'static Preset, state: ReplayCheckpoint) -> Option<Self> {
        let idle = || state.idle.iter();
        if !idle().all(|(_, worker)| worker.can_resume(preset)) {
            return None;
        }
        let places = idle().map(|(seen, worker)| (Arc::clone(&worker.name), Place::Idle(*seen)));
        let (places, idle_bytes) =
            (places.collect(), state.idle.values().map(IdleWorker::size).sum());
        Some(Self { state, idle_bytes, places, ..Self::new(preset) })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::BufReader;

    use unstuck_text::PRESETS;
    use unstuck_trace::read;
    use walkdir::WalkDir;

    use super::*;

    #[test]
    fn a_replay_goes_on_from_its_checkpoint_after_any_event() {
        let runs = WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs"));
        let (mut found, mut checkpoints) = (0, 0);
        for entry in runs.into_iter().map(|entry| entry.expect("a folder that can be listed")) {
            for preset in PRESETS.iter().filter(|_| entry.file_type().is_file()) {
                let path = entry.path();
                let open = || BufReader::new(File::open(path).expect("a file"));
                let mut whole = Replay::new(preset);
                let (mut parts, mut list) = (Some(Replay::new(preset)), Vec::new());
                read(open(), None, &mut |event| whole.take(&event)).expect("a trace");
                read(open(), None, &mut |event| {
                    let mut replay = parts.take().expect("a replay");
                    replay.take(&event);
                    list.extend(replay.take_findings());
                    let bytes = postcard::to_stdvec(replay.checkpoint()).expect("memory");
                    let rest = postcard::from_bytes(&bytes).expect("its own bytes");
                    parts = Replay::resumed(preset, rest);
                    checkpoints += 1;
                })
                .expect("a trace");
                let (whole, parts) = (whole.finish(), parts.expect("a replay").finish());
                list.extend(parts.list);
                list.sort_by_key(|found| found.calls_before);
                assert_eq!(format!("{:?}", whole.list), format!("{list:?}"), "{}", path.display());
                assert_eq!(whole.ends, parts.ends);
                found += list.len();
            }
        }
        assert!(found > 40 && checkpoints > 1000, "{found} findings, {checkpoints} checkpoints");
    }
}
