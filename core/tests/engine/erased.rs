//! The erased view of a detector returns the same as the detector.

use unstuck_core::{AnyDetector, Detector, Digest, Nearness, Turn, Verdict, presets};

use crate::{answer, call};

/// Collects the verdicts of a run with every kind of event, and the nearness of the rules at the
/// end of each round.
macro_rules! verdicts {
    ($detector:ident, $near:ident) => {{
        let mut near: Vec<Nearness> = Vec::new();
        let mut verdicts = Vec::new();
        for n in 0..90_u8 {
            let args = n % 2;
            verdicts.push($detector.peek(call(args)));
            near.extend($near($detector));
            let (id, verdict) = $detector.announce_each(call(args), &mut |one| verdicts.push(one));
            verdicts.push(verdict);
            let outcome = answer(args);
            let mut each = |one| verdicts.push(one);
            match n % 30 {
                11 => $detector.vetoed_each(id, &mut each),
                12 => $detector.cancel_each(id, &mut each),
                13 => $detector.progress(),
                14 => drop($detector.retry(1)),
                // A retry counts the held records again, so there are no more of them than the
                // small detector holds.
                0 => $detector.clear(),
                15 => $detector.finish_each(&mut each),
                16 => each($detector.vetoed(id)),
                17 => each($detector.cancel(id)),
                18 => each($detector.finish()),
                19 => each($detector.text_turn(Turn::new(Digest::of(b"hm")))),
                _ if n % 2 == 0 => each($detector.outcome(id, outcome)),
                _ => $detector.outcome_each(id, outcome, &mut each),
            }
        }
        let found = verdicts.iter().rev().find_map(|verdict| verdict.finding).expect("a loop");
        $detector.false_positive(&found);
        $detector.silence(found.loop_id);
        let announced = $detector.announce(call(0));
        verdicts.extend([announced.verdict, announced.settled]);
        $detector.notified();
        verdicts.push($detector.user_message(Digest::of(b"stop")));
        verdicts.push($detector.peek(call(0)));
        $detector.clear();
        (verdicts, near)
    }};
}

/// Collects them through the methods of the detector.
fn verdicts_directly(detector: &mut Detector<'static, 20>) -> (Vec<Verdict>, Vec<Nearness>) {
    let near = |detector: &Detector<'static, 20>| {
        detector.nearness().chain(detector.nearest()).collect::<Vec<_>>()
    };
    verdicts!(detector, near)
}

/// Collects them through the methods of the view.
fn verdicts_through_view(detector: &mut dyn AnyDetector<'static>) -> (Vec<Verdict>, Vec<Nearness>) {
    let near = |detector: &dyn AnyDetector<'static>| {
        let mut near: Vec<Nearness> = Vec::new();
        detector.nearness(&mut |one| near.push(one));
        near.extend(detector.nearest());
        near
    };
    verdicts!(detector, near)
}

#[test]
fn verdicts_depend_on_neither_the_view_nor_the_capacity() {
    let mut direct: Detector<'static, 20> = Detector::new(&presets::BALANCED).unwrap();
    let mut small: Detector<'static, 20> = Detector::new(&presets::BALANCED).unwrap();
    let mut large: Detector<'static, 64, 32> = Detector::new(&presets::BALANCED).unwrap();
    let (expected, near) = verdicts_directly(&mut direct);
    assert!(expected.iter().any(|verdict| verdict.finding.is_some()));
    assert!(near.len() > expected.len(), "all rules have something to say");
    assert!(
        verdicts_through_view(&mut small) == (expected.clone(), near.clone()),
        "the same verdicts"
    );
    assert!(verdicts_through_view(&mut large) == (expected, near), "the same verdicts");
    let (small, large): (&dyn AnyDetector<'_>, &dyn AnyDetector<'_>) = (&small, &large);
    assert_eq!(small.statistics(), direct.statistics());
    assert_eq!(small.statistics(), large.statistics());
    assert_eq!(small.policy(), large.policy());
}
