//! Tables for the masks that know a number by the words beside it, and an oracle for all of them.

use unstuck_text::{Mask, Masks};

use crate::cases::{left, shown};

#[test]
fn labelled_durations_go() {
    shown(
        Mask::Durations,
        &[
            ("elapsed_ms=412", "elapsed_ms=<durations>"),
            ("elapsed_ms=412 status=ok", "elapsed_ms=<durations> status=ok"),
            (r#""duration_ms": 93, "n": 5"#, r#""duration_ms": <durations>, "n": 5"#),
            ("{\"durationMs\":93.25}", "{\"durationMs\":<durations>}"),
            ("'latency': 0.25}", "'latency': <durations>}"),
            ("took 14", "took <durations>"),
            ("it took 14.", "it took <durations>."),
            ("(took: ~14)", "(took: ~<durations>)"),
            ("Elapsed: 0.4\nnext", "Elapsed: <durations>\nnext"),
            ("Elapsed: 1,204\n", "Elapsed: <durations>\n"),
            ("Elapsed (ms): 412", "Elapsed (ms): <durations>"),
            ("**Duration:** 0.4", "**Duration:** <durations>"),
            ("Wall time: 0.4", "Wall time: <durations>"),
            ("total time = 9.5e-05", "total time = <durations>"),
            ("time taken: 3", "time taken: <durations>"),
            ("time_spent=3", "time_spent=<durations>"),
            ("elapsed 0:12", "elapsed <durations>"),
            ("Elapsed: 1:02:03.5", "Elapsed: <durations>"),
            ("cpu_time_us=77", "cpu_time_us=<durations>"),
            ("latency_ns: 77", "latency_ns: <durations>"),
            ("seconds: 5", "seconds: <durations>"),
            // With a unit they need no label.
            ("(12.3ms)", "(<durations>)"),
            ("(1.2s)", "(<durations>)"),
            ("0.03s call", "<durations> call"),
            ("ETA 9m 30s", "ETA <durations>"),
            ("in 0.38 sec", "in <durations>"),
        ],
    );
    left(
        Mask::Durations,
        &[
            "took 14 steps",
            "took 3 tries",
            "Duration: 5 days",
            "latency: 3 hops",
            "elapsed: 40%",
            "elapsed: 40 %",
            "elapsed 4/10",
            "took 14-15",
            "took 14x",
            "took v14",
            "took 1.2.3",
            "took, 14",
            "took\n14",
            "took\t14",
            "overtook 14",
            "mistook: 14",
            "time: 14",
            "time=0.5",
            "items: 5",
            "us: 5",
            "about_us=5",
            "minutes: 5",
            "min: 5",
            "s: 5",
            "n_s=5",
            "seconds 5",
            "412 5",
            "time left: 5",
            "start time: 5",
            "exit code 1",
            "line 12",
            "timeout: 5",
            "retries=5",
            "spent 5",
            "x2ms=5",
        ],
    );
}

#[test]
fn costs_with_a_currency_go() {
    shown(
        Mask::Costs,
        &[
            ("cost: $0.0123", "cost: $<costs>"),
            ("Total cost: 0.02 USD", "Total cost: <costs> USD"),
            ("Total cost:      $1,204.50", "Total cost:      $<costs>"),
            ("Your total cost = $3", "Your total cost = $<costs>"),
            ("**API cost:** $0.5", "**API cost:** $<costs>"),
            ("{\"cost_usd\": 0.012}", "{\"cost_usd\": <costs>}"),
            ("{\"totalCostUSD\":1e-3}", "{\"totalCostUSD\":<costs>}"),
            ("usd_cost=0.5", "usd_cost=<costs>"),
            ("cost in USD: 0.5", "cost in USD: <costs>"),
            ("cost so far: $0.5", "cost so far: $<costs>"),
            ("cost: 0.02 dollars", "cost: <costs> dollars"),
            ("$0.0123 spent", "$<costs> spent"),
            ("spent $0.0123 of $5", "spent $<costs> of $5"),
            ("You have spent $1.", "You have spent $<costs>."),
            ("Remaining budget: $0.42", "Remaining budget: $<costs>"),
            ("remaining_budget_usd: 0.42", "remaining_budget_usd: <costs>"),
        ],
    );
    left(
        Mask::Costs,
        &[
            "cost: 0.69",
            "cost=5",
            "iteration 5, cost: 0.693",
            "shipping cost: $5.99",
            "unit cost: $5.99",
            "\"shipping_cost_usd\": 5.99",
            "price: $5",
            "$5",
            "$5 off",
            "total: $5",
            "usd: 5",
            "in USD: 5",
            "0.02 USD",
            "costs 3 points",
            "cost: $1.2.3",
            "cost: $5x",
            "cost\n$5",
            "accost: $5",
            "5 spent",
            "$5 spending",
            "cost: -$5",
            "remaining budget: 5",
            "marketing budget: $500",
        ],
    );
}

#[test]
fn tokens_go() {
    shown(
        Mask::Tokens,
        &[
            ("tokens left: 81022", "tokens left: <tokens>"),
            ("Tokens remaining: 81,022 / 200,000", "Tokens remaining: <tokens> / 200,000"),
            ("tokens used 5", "tokens used <tokens>"),
            ("tokens: 12.3k of 200k", "tokens: <tokens> of 200k"),
            ("{\"total_tokens\": 1234}", "{\"total_tokens\": <tokens>}"),
            ("{\"promptTokens\":12}", "{\"promptTokens\":<tokens>}"),
            (
                "prompt_tokens=12 completion_tokens=3",
                "prompt_tokens=<tokens> completion_tokens=<tokens>",
            ),
            ("cache_read_input_tokens: 0", "cache_read_input_tokens: <tokens>"),
            ("token_count=5", "token_count=<tokens>"),
            ("token budget: 5", "token budget: <tokens>"),
            ("81022 tokens", "<tokens> tokens"),
            ("81,022 tokens.", "<tokens> tokens."),
            ("12.3k tokens", "<tokens> tokens"),
            ("12 tokens left", "<tokens> tokens left"),
            ("12 input tokens, 7 output tokens", "<tokens> input tokens, <tokens> output tokens"),
            ("context left: 83%", "context left: <tokens>%"),
            ("Context used 17 %", "Context used <tokens> %"),
            ("83% context left", "<tokens>% context left"),
            ("context_remaining=1200", "context_remaining=<tokens>"),
        ],
    );
    left(
        Mask::Tokens,
        &[
            "12 tokens",
            "12 Tokens",
            "5000 token",
            "5000 tokenizers",
            "5000 words",
            "max_tokens: 4096",
            "\"maxTokens\": 4096",
            "token: 1234",
            "token 1234",
            "tokens 5",
            "tokens 5 and 6",
            "tokens: abc5",
            "tokens: 1.2.3",
            "epochs left: 3",
            "3 files left",
            "budget: 3",
            "budget left: 3",
            "context: 3",
            "context 3",
            "lines of context: 3",
            "disk left: 83%",
            "83% left",
            "83% tokens",
            "used: 17",
            "mytokens: 5",
        ],
    );
}

#[test]
fn labelled_ids_go() {
    shown(
        Mask::Ids,
        &[
            ("Chunk ID: 3fa9c1", "Chunk ID: <ids>"),
            ("- button \"Login\" [ref=e15]", "- button \"Login\" [ref=<ids>]"),
            ("[ref=s2e4]", "[ref=<ids>]"),
            ("uid=3_17 button", "uid=<ids> button"),
            (
                r#"<input name="_csrf" value="AaB/9t3N+x1=">"#,
                r#"<input name="_csrf" value="<ids>">"#,
            ),
            (
                r#"<meta name="csrf-token" content="a1b2">"#,
                r#"<meta name="csrf-token" content="<ids>">"#,
            ),
            (r#"<script nonce="xJ6ds0">"#, r#"<script nonce="<ids>">"#),
            (r#"{"_csrf":"aGk4x","n":1}"#, r#"{"_csrf":"<ids>","n":1}"#),
            (r#"{"csrf_token": "aG/k4=="}"#, r#"{"csrf_token": "<ids>"}"#),
            (r#""authenticityToken":"k4""#, r#""authenticityToken":"<ids>""#),
            ("ETag: \"33a64df5-x\"", "ETag: \"<ids>\""),
            ("etag: 1a2", "etag: <ids>"),
            ("saved 01HZX3KQ5N8T9VQ2M4B7D6F0GS.", "saved <ids>."),
            ("Chunk ID: abc12f", "Chunk ID: <ids>"),
            ("request_id=req_01H8XGJWBWBAQ4 x", "request_id=<ids> x"),
            ("x-request-id: 5", "x-request-id: <ids>"),
            ("x-amzn-requestid: 7f-1", "x-amzn-requestid: <ids>"),
            (r#"{"req_id": "a1/b2+c3==", "id": 5}"#, r#"{"req_id": "<ids>", "id": 5}"#),
            (r#"{"requestId":"X1"}"#, r#"{"requestId":"<ids>"}"#),
            ("{\"req_id\":4711}", "{\"req_id\":<ids>}"),
            ("trace id 4bf92f", "trace id <ids>"),
            ("(traceId: 4bf92f)", "(traceId: <ids>)"),
            ("parent_span_id=00f067aa0ba902b7", "parent_span_id=<ids>"),
            ("Session ID: 7", "Session ID: <ids>"),
            ("correlation-id: c-1-2.", "correlation-id: <ids>."),
            ("message id 17", "message id <ids>"),
            ("REQUEST_ID=5", "REQUEST_ID=<ids>"),
            ("url?session_id=a1&x=2", "url?session_id=<ids>&x=2"),
            ("request id: `a1`", "request id: `<ids>`"),
            ("request id 123e4567-e89b-12d3-a456-426614174000", "request id <ids>"),
        ],
    );
    left(
        Mask::Ids,
        &[
            "id: 17",
            "\"id\": 5",
            "task id 5",
            "issue_id=5",
            "user_id: 17",
            "order_id: a17",
            "thread 17",
            "request: 17",
            "request 17",
            "request id: missing",
            "trace id none",
            "request_id=abc",
            "request id, 5",
            "request id\n5",
            "request idea 5",
            "grid 5",
            "request grid 5",
            "message: id 5",
            "valid 5",
            "id=request_5",
            "interrequest_id=5",
            "session id was 5",
            "\"token\": \"a1\"",
            "access_token=a1",
            "01HZX3KQ5N8T9VQ2M4B7D6F0G",
            "01HZX3KQ5N8T9VQ2M4B7D6F0GSX",
            "01HZX3KQ5N8T9VQ2M4B7D6F0GU",
        ],
    );
}

#[test]
fn steps_of_a_scaffold_go() {
    shown(
        Mask::Steps,
        &[
            ("[step 17/200]", "[step <steps>/200]"),
            ("You have 6 steps left.", "You have <steps> steps left."),
            ("2 more attempts remaining", "<steps> more attempts remaining"),
            ("Attempts remaining: 3", "Attempts remaining: <steps>"),
            ("turns left: 12", "turns left: <steps>"),
            (
                r#"{"thoughtNumber": 3, "totalThoughts": 5}"#,
                r#"{"thoughtNumber": <steps>, "totalThoughts": 5}"#,
            ),
            ("[step 17/200] next", "[step <steps>/200] next"),
            ("done (Step 17 of 200)", "done (Step <steps> of 200)"),
            ("step 17/200", "step <steps>/200"),
            ("a\n--- Step #17 / 200 ---\nb", "a\n--- Step #<steps> / 200 ---\nb"),
            ("Iteration: 3 of 10.", "Iteration: <steps> of 10."),
            ("round=3/10", "round=<steps>/10"),
            ("turn 4/30: go on", "turn <steps>/30: go on"),
            ("failed at attempt 3 of 5, again", "failed at attempt <steps> of 5, again"),
            ("retry 1/3 in a moment", "retry <steps>/3 in a moment"),
            ("no answer (iteration 4)", "no answer (iteration <steps>)"),
            ("[turn 3] go on", "[turn <steps>] go on"),
        ],
    );
    left(
        Mask::Steps,
        &[
            "step 17",
            "step 3/10: linking",
            "Step 3/10 : RUN make",
            "finished step 3/10",
            "1. step 3/10",
            "sub-step 3/10",
            "[17/200]",
            "[17/200] Compiling foo",
            "3 of 10",
            "page 2 of 9",
            "line 2 of 9",
            "epoch 3/10",
            "file 3/10",
            "test 3/10",
            "turn 4",
            "turn 4 or 30",
            "(step 3)",
            "(iteration 4, again)",
            "turn 4 of them",
            "turn 4/x",
            "turn 4/30/12",
            "turn 4/30.5",
            "return 4/30",
            "country 4/30",
            "steps 3/10",
            "3 files left",
        ],
    );
}

#[test]
fn each_label_leaves_its_number_to_its_own_mask() {
    let labels = [
        ("elapsed_ms=5", Mask::Durations),
        ("cost: $5", Mask::Costs),
        ("tokens left: 5", Mask::Tokens),
        ("request_id=5", Mask::Ids),
        ("turn 5/9", Mask::Steps),
        ("pgid=5", Mask::Pids),
    ];
    for (text, own) in labels {
        for mask in Mask::ALL {
            let masks = Masks::NONE.with(mask);
            assert_eq!(masks.show(text).to_string() != text, mask == own, "{text} by {mask:?}");
        }
        let shown = Masks::ALL.show(text).to_string();
        assert!(shown.contains(own.name()), "{shown}");
    }
}

/// The ways to write a label before its value, and how sure they are.
const LINKS: [(&str, Link); 7] = [
    (" ", Link::Loose),
    (": ", Link::Colon),
    (":", Link::Colon),
    ("=", Link::Member),
    (" = ", Link::Member),
    ("\": ", Link::Member),
    (", ", Link::Broken),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Loose,
    Colon,
    Member,
    Broken,
}

/// Labels, each with its mask, and the links by which it takes a bare `5`.
const LABELS: [(&str, Option<Mask>, &[Link]); 34] = [
    ("elapsed_ms", Some(Mask::Durations), &[Link::Colon, Link::Member]),
    ("durationMs", Some(Mask::Durations), &[Link::Colon, Link::Member]),
    ("latency seconds", Some(Mask::Durations), &[Link::Colon, Link::Member]),
    ("took", Some(Mask::Durations), &[Link::Loose, Link::Colon, Link::Member]),
    ("Elapsed", Some(Mask::Durations), &[Link::Loose, Link::Colon, Link::Member]),
    ("wall-time", Some(Mask::Durations), &[Link::Loose, Link::Colon, Link::Member]),
    ("cost_usd", Some(Mask::Costs), &[Link::Loose, Link::Colon, Link::Member]),
    ("totalCostEur", Some(Mask::Costs), &[Link::Loose, Link::Colon, Link::Member]),
    ("tokens", Some(Mask::Tokens), &[Link::Colon, Link::Member]),
    ("prompt_tokens", Some(Mask::Tokens), &[Link::Colon, Link::Member]),
    ("tokens left", Some(Mask::Tokens), &[Link::Loose, Link::Colon, Link::Member]),
    ("contextUsed", Some(Mask::Tokens), &[Link::Loose, Link::Colon, Link::Member]),
    ("token count", Some(Mask::Tokens), &[Link::Colon, Link::Member]),
    ("request_id", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("X-Trace-Id", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("chunk ID", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("requestid", Some(Mask::Ids), &[Link::Loose, Link::Colon, Link::Member]),
    ("pgid", Some(Mask::Pids), &[Link::Loose, Link::Colon, Link::Member]),
    ("process group", Some(Mask::Pids), &[Link::Loose, Link::Colon, Link::Member]),
    ("steps", None, &[]),
    ("step", None, &[]),
    ("time", None, &[]),
    ("us", None, &[]),
    ("cost", None, &[]),
    ("shipping_cost_usd", None, &[]),
    ("usd", None, &[]),
    ("token", None, &[]),
    ("max_tokens", None, &[]),
    ("id", None, &[]),
    ("user_id", None, &[]),
    ("context", None, &[]),
    ("left", None, &[]),
    ("failed", None, &[]),
    ("exit code", None, &[]),
];

/// Texts behind a value, and whether they let a duration be one that no unit makes certain.
const ENDS: [(&str, bool); 7] = [
    ("", true),
    ("\nnext", true),
    (".", true),
    (", n: 3", true),
    (")", true),
    (" (all)", true),
    (" files", false),
];

/// The definition, by the parts of which a text is made.
fn expected(label: usize, link: Link, lets: bool) -> Option<Mask> {
    let (_, mask, links) = LABELS.get(label)?;
    let is_unit = matches!(label, 0..3);
    let is_doubtful = *mask == Some(Mask::Durations) && !is_unit && link != Link::Member;
    mask.filter(|_| links.contains(&link) && (lets || !is_doubtful))
}

#[test]
fn every_label_link_and_end_is_judged_by_the_definition() {
    for (n, (label, ..)) in LABELS.iter().enumerate() {
        for (sign, link) in LINKS {
            for (end, lets) in ENDS {
                // A key in quotes has two of them.
                let quote = if sign.starts_with('"') { "\"" } else { "" };
                for before in ["", "x: ", "a\n", "(", "7, ", "at 12:03:59 "] {
                    let text = format!("{before}{quote}{label}{sign}5{end}");
                    let shown = Masks::ALL.show(&text).to_string();
                    let before =
                        Masks::ALL.show(before).to_string() + &before[before.trim_end().len()..];
                    let value = expected(n, link, lets)
                        .map_or("5".to_owned(), |mask| format!("<{}>", mask.name()));
                    let wanted = format!("{before}{quote}{label}{sign}{value}{end}");
                    assert_eq!(shown, wanted, "{text:?}");
                    assert_eq!(Masks::ALL.show(&shown).to_string(), shown, "{text:?}");
                }
            }
        }
    }
}
