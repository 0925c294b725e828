//! A detector behind its erased view says what it says itself.

use unstuck_core::{
    AnyDetector, Call, Detector, Digest, Nearness, Outcome, Tool, Turn, Verdict, presets,
};

fn call(args: u8) -> Call {
    Call::new(Tool::new(1), Digest::of(&[args]))
}

/// Everything that a detector says to a run in which each event occurs, and how near it was to
/// the rules at the end of each round.
macro_rules! told {
    ($detector:ident, $near:ident) => {{
        let mut near: Vec<Nearness> = Vec::new();
        let mut told = Vec::new();
        for n in 0..90_u8 {
            let args = n % 2;
            told.push($detector.peek(call(args)));
            near.extend($near($detector));
            let (id, verdict) = $detector.announce_each(call(args), &mut |one| told.push(one));
            told.push(verdict);
            let outcome = Outcome::ok(Digest::of(&[args]));
            let mut each = |one| told.push(one);
            match n % 30 {
                11 => $detector.vetoed_each(id, &mut each),
                12 => $detector.cancel_each(id, &mut each),
                13 => $detector.progress(),
                14 => drop($detector.retry(1)),
                // What is counted again after a retry is what is held: no more than the small one can.
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
        let found = told.iter().rev().find_map(|verdict| verdict.finding).expect("a loop");
        $detector.false_positive(&found);
        $detector.silence(found.loop_id);
        let announced = $detector.announce(call(0));
        told.extend([announced.verdict, announced.settled]);
        told.push($detector.user_message(Digest::of(b"stop")));
        told.push($detector.peek(call(0)));
        $detector.clear();
        (told, near)
    }};
}

/// By the methods of the detector.
fn told_directly(detector: &mut Detector<'static, 20>) -> (Vec<Verdict>, Vec<Nearness>) {
    let near = |detector: &Detector<'static, 20>| {
        detector.nearness().chain(detector.nearest()).collect::<Vec<_>>()
    };
    told!(detector, near)
}

/// By those of its view.
fn told(detector: &mut dyn AnyDetector<'static>) -> (Vec<Verdict>, Vec<Nearness>) {
    let near = |detector: &dyn AnyDetector<'static>| {
        let mut near: Vec<Nearness> = Vec::new();
        detector.nearness(&mut |one| near.push(one));
        near.extend(detector.nearest());
        near
    };
    told!(detector, near)
}

#[test]
fn neither_the_view_nor_the_capacity_is_a_part_of_what_is_said() {
    let mut direct: Detector<'static, 20> = Detector::new(&presets::BALANCED).unwrap();
    let mut small: Detector<'static, 20> = Detector::new(&presets::BALANCED).unwrap();
    let mut large: Detector<'static, 64, 32> = Detector::new(&presets::BALANCED).unwrap();
    let (said, near) = told_directly(&mut direct);
    assert!(said.iter().any(|verdict| verdict.finding.is_some()));
    assert!(near.len() > said.len(), "all rules have something to say");
    assert!(told(&mut small) == (said.clone(), near.clone()), "the same verdicts");
    assert!(told(&mut large) == (said, near), "the same verdicts");
    let (small, large): (&dyn AnyDetector<'_>, &dyn AnyDetector<'_>) = (&small, &large);
    assert_eq!(small.statistics(), direct.statistics());
    assert_eq!(small.statistics(), large.statistics());
    assert_eq!(small.policy(), large.policy());
}
