//! A case for every line of the presets' table, in a short notation.
//!
//! `a` calls `bash` with the command `a` and never hears of it; `a=x` is answered `x`, `a!x`
//! fails with `x`; `tool:a` calls another tool; `"hi"` is a turn of text, `>hi` a user's
//! message. After `|` stand the actions, by initial: `.` proceed, Nudge, Warn, Block, `R` start
//! over, Stop.

use serde_json::json;
use serde_json::value::to_raw_value;
use unstuck_core::Action;
use unstuck_text::Preset;

use crate::run::{Event, actions};

fn event(token: &str) -> Event {
    if let Some(text) = token.strip_prefix('"') {
        let text = text.trim_end_matches('"').to_owned();
        return Event::Message { role: "assistant".to_owned(), text };
    }
    if let Some(text) = token.strip_prefix('>') {
        return Event::Message { role: "user".to_owned(), text: text.to_owned() };
    }
    let (call, result, failed) = match (token.split_once('='), token.split_once('!')) {
        (Some((call, result)), _) => (call, Some(result.to_owned()), false),
        (_, Some((call, result))) => (call, Some(result.to_owned()), true),
        _ => (token, None, false),
    };
    let (tool, command) = call.split_once(':').unwrap_or(("bash", call));
    let args = to_raw_value(&json!({ "command": command.replace('_', " ") })).unwrap();
    Event::Call { tool: tool.to_owned(), args, result, failed }
}

fn initial(action: Action) -> char {
    match action {
        Action::Proceed => '.',
        Action::Nudge => 'N',
        Action::Warn => 'W',
        Action::Block => 'B',
        Action::StartOver => 'R',
        Action::Stop => 'S',
    }
}

/// Each line: a preset, the events, and the actions.
const CASES: &str = "
start_over: a=x a=x b=y a=x a=x a=x                       | .....R
start_over: a=x a=x a=x a=x a=x a=x a=x a=x a=x a=x       | ....R....R
start_over: a=x a=x a=y a=x a=x a=x                       | .....R
start_over: a!x a=x a!x a=x a!x a=x a!x a=x a!x           | ........R
start_over: a=x b=y a=x b=y a=x b=y a=x b=y a=x b=y       | ........R.
start_over: a=x >go a=x >go a=x a=x a=x a=x               | .......R
start_over: a a a a a a                                   | ......
start_over: think:a=x think:a=x think:a=x think:a=x think:a=x | .....
start_over: finish:a=x finish:a=x finish:a=x finish:a=x finish:a=x | .....
start_over: start_over:a=x start_over:a=x start_over:a=x start_over:a=x start_over:a=x | .....

graduated: a a a a a a a                                  | ..WWS..
graduated: a=1 a=2 a=3 a=4 a=5                            | ..WWS
graduated: a b c d e f g h i a a                          | ..........W
graduated: a b c d e f g h i j a a                        | ............
graduated: a b a b c a                                    | ...W.W
graduated: a b c a b c d                                  | .....W.
graduated: a b c d a b c d                                | .......W
graduated: a b c d e a b c d e                            | .........W
graduated: a b c d e f a b c d e f                        | ............
graduated: a a a >new a a a                               | ..W...W

graduated_conservative: a a a a a a a a                   | ....WWWS
graduated_conservative: a b c a b c a b c                 | ........W
graduated_conservative: a b a b a b                       | ......
graduated_conservative: a b c d a b c d a b c d           | ...........W

graduated_aggressive: a a a                               | .WS
graduated_aggressive: a b c a                             | ...W
graduated_aggressive: a b c d e f g h i j a               | ..........W
graduated_aggressive: a b c d e f g h i j k a             | ............

nudge: a a a a a a a                                      | ..NWWBB
nudge: a a b a a                                          | .....
nudge: cat_f head_f tail_f cat_f head_f tail_f            | ...WWB
nudge: head_-n_5_f head_-n_6_f head_-n_7_f head_-n_8_f    | ...W
nudge: cat_f|wc cat_f|wc cat_f>g cat_f;ls                 | ....
nudge: a!1 b!2 c!3 d!4 e!5 f!6                            | ..NWWB
nudge: a!1 b!2 read:x=y c!3                               | ...N
nudge: a!1 b!2 c=3 d!4 e!5                                | .....
nudge: pytest!1 edit:a=ok pytest!2 edit:b=ok pytest!3     | ....N
nudge: pytest!1 edit:a=ok pytest=0 edit:b=ok pytest!3 edit:c=ok pytest!4 | .......
nudge: \"1\" \"2\" \"3\" \"4\" \"5\" \"6\"                | ..NWWB
nudge: \"1\" \"2\" a \"3\" \"4\"                          | .....
nudge: \"1\" \"2\" >new \"3\" \"4\"                       | .....

cycles: a a a a a                                         | .NWS.
cycles: a b a b a b                                       | ...NWS
cycles: a b c a b c a b                                   | .....NWS
cycles: a b c d a b c d                                   | ........
cycles: a b x a b                                         | .....
cycles: a a b b                                           | .N.N
cycles: a=1 a=2                                           | .N

repeat: a a a a                                           | ..S.
repeat: a b a c a                                         | ....S
repeat: a=1 a=2 a=3                                       | ..S
repeat: a b c d e f g h i j k l m n o p q r a a           | ...................S
repeat: a b c d e f g h i j k l m n o p q r s a a         | .....................

balanced: a=x a=x a=x a=x a=x a=x a=x a=x                 | ..NWBBBS
balanced: a=1 a=2 a=3 a=4 a=5                             | .....
balanced: a=x a=y a=y a=y                                 | ...N
balanced: a=x b=y a=x b=y a=x b=y a=x b=y                 | ...NNWWB
balanced: a=x b=y a=x c=z a=x                             | ....N
balanced: a=x b=1 c=2 d=3 e=4 a=x f=5 a=x                 | ........
balanced: a!x b!x c!x d!x e!x f!x                         | ...NNW
balanced: a=x b=x c=x d=x e=x f=x                         | ......
balanced: a!x b!x c!x read:d!x e!x f!x                    | ......
balanced: a=1 a=2 a=1 a=2 a=1 a=2 a=1 a=2                 | .......N
balanced: a a a a a a                                     | .....N
balanced: a=ok b=ok c=ok d=ok                             | ....
balanced: a=ok a=ok a=ok a=ok a=ok a=ok a=ok a=ok         | ..NWWWWW
balanced: edit:1=x check=fine edit:2=x check=fine edit:3=x check=fine edit:4=x check=fine | ........
balanced: edit:1=x check!bad edit:2=x check!bad edit:3=x check!bad edit:4=x check!bad | .....N.W
balanced: b=1 check=ok c=2 check=ok d=3 check=ok          | ......
balanced: b=1 check=fine c=2 check=fine d=3 check=fine    | .....N
balanced: job_status:a=on job_status:a=on job_status:a=on job_status:a=on job_status:a=on job_status:a=on job_status:a=on job_status:a=on | .......N
balanced: sleep_5= get_status:a=on sleep_5= get_status:a=on sleep_5= get_status:a=on | ......
balanced: \"go\" \"go\" \"go\" \"go\" \"go\"              | ..NNW
balanced: \"a\" \"b\" \"c\" \"d\"                         | ....
";

#[test]
fn every_line_of_the_table() {
    let mut wrong = Vec::new();
    for line in CASES.lines().filter(|line| !line.is_empty()) {
        let (preset, rest) = line.split_once(": ").unwrap();
        // The last bar: a command may hold one.
        let (events, expected) = rest.rsplit_once(" | ").unwrap();
        let events: Vec<Event> = events.split_whitespace().map(event).collect();
        let preset = Preset::named(preset).unwrap();
        let acted = actions(preset.policy, preset.recipe, &events);
        let acted: String = acted.into_iter().map(initial).collect();
        if acted != expected.trim() {
            wrong.push(format!("{line}, but {acted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_turn_that_goes_round_in_itself() {
    let balanced = Preset::named("balanced").unwrap();
    let told = [4, 8, 12].map(|times| {
        let text = "We will check the tests once more. ".repeat(times);
        let turn = Event::Message { role: "assistant".to_owned(), text };
        actions(balanced.policy, balanced.recipe, &[turn])
    });
    assert_eq!(told, [[Action::Proceed], [Action::Nudge], [Action::Warn]]);
}
