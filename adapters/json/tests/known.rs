//! Digests that must be the same on every machine: ids of loops are printed, and compared elsewhere.

use unstuck_json::{Exact, Fingerprinter, Fnv, Rfc8785, fingerprint};

/// A long text with every kind of character, over several blocks.
fn long() -> String {
    let text = r#"The quick brown fox; \n\t \"quoted\" – größer, 漢字, 😂. "#.repeat(30);
    format!(r#"{{"content":"{text}"}}"#)
}

#[test]
fn digests_are_those_of_every_machine() {
    let documents = [
        "null",
        "[true,false]",
        "0",
        "-17",
        "1234567890123456789",
        "12345678901234567890123",
        "0.1",
        "1e400",
        r#""""#,
        r#""seven b""#,
        r#""eight by""#,
        r#""a text of more than sixteen bytes""#,
        r#""\u00e9\/\ud83d\ude02""#,
        "[]",
        "[[],{}]",
        r#"{"path":"src/lib.rs","limit":100}"#,
        r#"{"a":{"b":[1,2.5,"x"]},"a":null}"#,
        &long(),
    ];
    let small = Fingerprinter::<Exact, Fnv, 8>::with_hash(Fnv::new(7), 7);
    let doubles = Fingerprinter::<Rfc8785>::new(u64::MAX);
    let lines = documents.map(|json| {
        let hex = |digest: Result<unstuck_core::Digest, _>| {
            digest.map_or_else(|_| "none".to_owned(), |digest| format!("{:016x}", digest.bits()))
        };
        let json_bytes = json.as_bytes();
        let [exact, small, doubles] = [
            hex(fingerprint(json_bytes)),
            hex(small.fingerprint(json_bytes)),
            hex(doubles.fingerprint(json_bytes)),
        ];
        let name: String = json.chars().take(36).collect();
        format!("{exact} {small} {doubles:<16} {name}")
    });
    insta::assert_snapshot!(lines.join("\n"));
}
