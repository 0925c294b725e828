//! A restored guard goes on as before, and arbitrary bytes do no harm.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use unstuck::{Action, Asked, BuildError, CHECKPOINT_VERSION, Guard, RestoreError};
use unstuck_text::PRESETS;

use super::actions;

/// An event: the call, its ending, and whether the guard is restored before that.
type Happening = (u8, u8, bool);

/// Returns the decisions of a guard on an event.
fn go_on(guard: &mut Guard, n: usize, (call, end, _): Happening) -> (Action, Action, String) {
    let args = format!(r#"{{"command":"make {}","words":"of no importance"}}"#, call % 3);
    let id = (n - usize::from(n > 0 && call == 9)).to_string();
    let before = guard.announce(&Asked::new(["bash", "sh"][usize::from(call % 2)], &args).id(&id));
    let ticket = guard.ticket(&id).expect("an id that is known");
    let after = match end {
        0..=4 => guard.after(ticket, "no", end % 2 == 0),
        5 => guard.refused(ticket),
        6 => guard.cancelled(ticket),
        7 => guard.text_turn("hm"),
        _ => before.clone(),
    };
    let message = after.message().or(before.message()).map(ToString::to_string);
    (before.judged(), after.judged(), message.unwrap_or_default())
}

fn build(preset: usize) -> unstuck::Builder {
    Guard::builder().preset(&PRESETS[preset])
}

/// The texts that tell a cause stay in the process: not in a checkpoint, and not in what is written for debugging.
#[test]
fn the_texts_of_earlier_calls_are_clues_and_are_not_saved() {
    let mut guard = Guard::new();
    let listed = guard.before("bash", r#"{"command":"ls secret-folder"}"#).ticket();
    let _ = guard.after(listed, "src/main.rs\nsecret-answer", false);
    let read = |guard: &mut Guard| {
        let ticket = guard.before("read_file", r#"{"path":"src/mian.rs"}"#).ticket();
        guard.after(ticket, "src/mian.rs: No such file or directory", true)
    };
    let told = [(); 3].map(|()| read(&mut guard))[2].clone();
    let note = told.message().expect("a note").note();
    assert!(note.contains("There was `src/main.rs` 3 calls ago."), "{note}");
    let (saved, debugged) = (guard.save(), format!("{guard:?}"));
    let saved_text = String::from_utf8_lossy(&saved);
    for text in ["secret-folder", "secret-answer"] {
        assert!(!saved_text.contains(text) && !debugged.contains(text), "{text}");
    }
    let mut restored = Guard::builder().restore(&saved).expect("its own checkpoint");
    let told = [(); 2].map(|()| read(&mut restored))[1].clone();
    let note = told.message().expect("a note").note();
    assert!(note.contains("The path `src/mian.rs` does not exist. List"), "{note}");
}

proptest! {
    #[test]
    fn what_is_read_goes_on_as_what_was_written(
        preset in 0..PRESETS.len(),
        happenings in vec((0..10_u8, 0..9_u8, any::<bool>()), 0..40),
    ) {
        let mut kept = build(preset).build().expect("a guard");
        let mut read = kept.clone();
        for (n, &happening) in happenings.iter().enumerate() {
            if happening.2 {
                read = build(preset).restore(&read.save()).expect("what was just written");
            }
            prop_assert_eq!(go_on(&mut kept, n, happening), go_on(&mut read, n, happening));
        }
        prop_assert_eq!(kept.save(), read.save());
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in vec(any::<u8>(), 0..400), version: bool) {
        if let (true, Some(first)) = (version, bytes.first_mut()) {
            *first = CHECKPOINT_VERSION;
        }
        prop_assert!(build(0).restore(&bytes).is_err());
    }

    #[test]
    fn a_checkpoint_that_was_damaged_is_refused(at: Index, bit in 0..8, cut: Index) {
        let mut guard = Guard::new();
        let _ = actions(&mut guard, 4);
        let whole = guard.save();
        let mut damaged = whole.clone();
        damaged[at.index(whole.len())] ^= 1_u8 << bit;
        prop_assert!(build(0).restore(&damaged).is_err());
        prop_assert!(build(0).restore(&whole[..cut.index(whole.len())]).is_err());
    }
}

#[test]
fn an_error_says_what_is_wrong() {
    let mut guard = Guard::new();
    let _ = actions(&mut guard, 4);
    let bytes = guard.save();
    let mut newer = bytes.clone();
    newer[0] = CHECKPOINT_VERSION + 1;
    let mut older = bytes.clone();
    older[0] = 3;
    for (preset, bytes, expected) in [
        (
            0,
            &newer[..],
            "the checkpoint has version 9, but this guard reads 8: begin with a new one",
        ),
        (0, &older, "the checkpoint has version 3, but this guard reads 8: begin with a new one"),
        (0, &[], "these bytes are no checkpoint of a guard: begin with a new one"),
        (
            7,
            &bytes,
            "the checkpoint was written under other rules: restore it with the policy \
                     that it was written under, or begin with a new detector",
        ),
    ] {
        let error = build(preset).restore(bytes).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        assert!(matches!(error, BuildError::Restore(_)));
    }
    let BuildError::Restore(error) = build(0).restore(&newer).expect_err("newer") else {
        panic!("it was built")
    };
    assert_eq!(error, RestoreError::Version { found: CHECKPOINT_VERSION + 1 });
}

#[test]
fn a_checkpoint_is_small_and_holds_no_words() {
    let mut guard = Guard::new();
    for n in 0..200 {
        let words: Vec<String> = (0..90).map(|word| format!("w{n}x{word}")).collect();
        let id = n.to_string();
        let asked = Asked::new("secretive", words.join(" ")).id(&id);
        let _ = guard.finished(&asked, format!("password {n}"), false);
    }
    let bytes = guard.save();
    assert!(bytes.len() < 9 << 10, "{} bytes", bytes.len());
    let mut named = guard.clone();
    for n in 0..64 {
        // Four bytes each, as long as a name is kept.
        let name = format!("{n}{}", "\u{20000}".repeat(200));
        let _ = named.finished(&Asked::new(&name, ""), "", false);
    }
    assert!(named.save().len() < 48 << 10, "{} bytes", named.save().len());
    assert!(!bytes.windows(8).any(|part| part == b"password"));
    assert!(Guard::new().save().len() < 210, "{} bytes", Guard::new().save().len());
    assert_eq!(Guard::builder().restore(&bytes).expect("a checkpoint").save(), bytes);
}
