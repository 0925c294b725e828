//! The messages for workers.

use std::fmt::Write as _;

use unstuck_swarm::{Action, Counts, Finding, LoopId, Outcome, Tool};

#[test]
fn every_message_reads_well() {
    let mut all = String::new();
    for outcome in [Outcome::Unknown, Outcome::Worked, Outcome::Failed] {
        for action in [Action::Nudge, Action::Warn, Action::Block, Action::StartOver, Action::Stop]
        {
            let counts = Counts { calls: 12, workers: 5, missed: 0, beyond: 2 };
            let id = LoopId::from_bits(1);
            let finding = Finding::new(id, Tool::named("bash"), outcome, counts);
            let _ = writeln!(all, "{action}: {}", finding.nudge(action, "bash"));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn confidence_grows_with_the_number_of_calls() {
    let confidence = |outcome, beyond| {
        let counts = Counts { calls: 10 + beyond, workers: 2, missed: 0, beyond };
        Finding::new(LoopId::from_bits(1), Tool::new(1), outcome, counts).confidence
    };
    assert_eq!(
        [0, 1, 2, 4, 5, 100].map(|beyond| confidence(Outcome::Unknown, beyond)),
        [75, 88, 94, 99, 100, 100]
    );
    assert_eq!(confidence(Outcome::Failed, 0), 100);
}
