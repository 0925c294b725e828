//! How well sketches tell the same output again from another one.

mod outputs;

use unstuck_text::{Masks, Sketch};

use crate::outputs::{COMMANDS, output};

/// How many subjects each command is about, and how often it is run on each.
const SUBJECTS: u64 = 8;
const RUNS: u64 = 4;

/// An output's command and subject, and its sketch.
fn sketches(masks: Masks) -> Vec<((usize, u64), Sketch)> {
    let families = (0..COMMANDS.len()).flat_map(|c| (0..SUBJECTS).map(move |s| (c, s)));
    let runs = families.flat_map(|family| (0..RUNS).map(move |run| (family, run)));
    runs.map(|((c, s), run)| ((c, s), masks.sketch(output(c, s, run).as_bytes()))).collect()
}

/// How often each percentage of likeness is told of two outputs of one command and subject, and of
/// any other two.
fn told(masks: Masks) -> [[f64; 101]; 2] {
    let sketches = sketches(masks);
    let mut told = [[0.0; 101]; 2];
    for (n, (family, sketch)) in sketches.iter().enumerate() {
        for (other, others) in &sketches[..n] {
            let likeness = sketch.likeness(*others);
            told[usize::from(family != other)][usize::from(likeness)] += 1.0;
        }
    }
    told
}

/// The share of pairs, one of the same output again and one of any other two, of which the first is
/// told to be more alike; equally alike counts half (the area under the ROC curve).
fn area([same, other]: [[f64; 101]; 2]) -> f64 {
    let mut less = 0.0;
    let mut won = 0.0;
    for (same, other) in same.iter().zip(&other) {
        won += same * (less + other / 2.0);
        less += other;
    }
    won / (same.iter().sum::<f64>() * less)
}

#[test]
fn the_same_output_again_is_told_from_others() {
    let area = area(told(Masks::ALL));
    println!("area under the ROC curve: {area:.5}");
    assert!(area > 0.999, "{area}");
}

#[test]
fn without_masks_it_is_told_less_well() {
    let (masked, raw) = (area(told(Masks::ALL)), area(told(Masks::NONE)));
    assert!(raw < masked, "{raw} and {masked}");
}

#[test]
fn from_eighty_percent_on_no_other_output_is_taken_for_the_same() {
    let [same, other] = told(Masks::ALL);
    let from_80 = |told: [f64; 101]| told[80..].iter().sum::<f64>() / told.iter().sum::<f64>();
    println!("from 80 on: {:.3} of the same, {:.5} of others", from_80(same), from_80(other));
    assert!(from_80(same) > 0.8 && from_80(other) < 0.001);
}
