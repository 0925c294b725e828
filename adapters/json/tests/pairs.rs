//! Tables: documents that are equal, documents that are not, and members kept of an object.

use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, JsonError, fingerprint};

/// Each row is one meaning in several spellings; no two rows mean the same.
const MEANINGS: &[&[&str]] = &[
    &["null", " null ", "\t\r\nnull\n"],
    &["false"],
    &["true"],
    &["0", "-0", "0.0", "0e99", "-0.00E-7"],
    &["1", "1.0", "1e0", "10e-1", "0.1e1"],
    &["-1", "-1.0"],
    &["9007199254740992", "9007199254740992.0"],
    &["9007199254740993", "9.007199254740993e15"],
    &["123456789012345678901234567890", "1.2345678901234567890123456789e29"],
    &["0.1", "1e-1"],
    &["0.1000000000000000055511151231257827"],
    &["1e400"],
    &["1e-400"],
    &[r#""""#],
    &[r#"" ""#, r#""\u0020""#],
    &[r#""0""#],
    &[r#""1""#],
    &[r#""null""#],
    &[r#""true""#],
    &[r#""A""#, r#""\u0041""#],
    &[r#""a""#],
    &[r#""/""#, r#""\/""#, r#""\u002f""#, r#""\u002F""#],
    &[r#""\\""#, r#""\u005c""#],
    &[r#""\\/""#],
    &[r#""\n""#, r#""\u000a""#],
    &[r#""\\n""#],
    &[r#""\u0000""#],
    &[r#""\u0000\u0000""#],
    &["\"é\"", r#""\u00e9""#, r#""\u00E9""#],
    &["\"e\u{301}\""],
    &["\"😂\"", r#""\ud83d\ude02""#],
    &["\"\u{7F}\"", r#""\u007F""#],
    &["[]", "[ ]", " [\n] "],
    &["[null]", "[ null ]"],
    &["[[]]"],
    &["[[],[]]"],
    &["[[[]]]"],
    &["[{}]"],
    &["[0]", "[-0]"],
    &[r#"[""]"#],
    &["[1,2]", "[ 1 , 2 ]", "[1.0,2e0]"],
    &["[2,1]"],
    &["[1,1]"],
    &["[1,1,1]"],
    &["[12]"],
    &["[1,[2]]"],
    &["[[1],2]"],
    &["[[1,2]]"],
    &["[[1],[2]]"],
    &[r#"["a","b"]"#],
    &[r#"["ab"]"#],
    &[r#"["a,b"]"#],
    &[r#"["","ab"]"#],
    &["{}", "{ }"],
    &[r#"{"":null}"#],
    &[r#"{"a":null}"#],
    &[r#"{"a":{}}"#],
    &[r#"{"a":[]}"#],
    &[r#"{"a":1}"#, r#"{ "a" : 1.0 }"#, r#"{"\u0061":1}"#],
    &[r#"{"a":"1"}"#],
    &[r#"{"a":"a"}"#],
    &[r#"{"a":1,"a":1}"#],
    &[r#"{"a":1,"a":1,"a":1}"#],
    &[r#"{"a":{"a":1}}"#],
    &[r#"["a",1]"#],
    &[r#"[["a",1]]"#],
    &[r#"[{"a":1}]"#],
    &[r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, "{\n  \"b\": 20e-1,\n  \"a\": 1\n}\n"],
    &[r#"{"a":2,"b":1}"#],
    &[r#"{"a":1,"b":1}"#],
    &[r#"{"a":"b","b":"a"}"#],
    &[r#"{"a":"a","b":"b"}"#],
    &[r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#],
    &[r#"{"a":{"b":1}}"#],
    &[r#"{"b":{"a":1}}"#],
    &[r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"c":2,"b":1}}"#],
    &[r#"{"a":{"b":1},"c":2}"#, r#"{"c":2,"a":{"b":1}}"#],
    &[r#"{"a":[1,{"b":2,"c":3}]}"#, r#"{"a":[1,{"c":3,"b":2}]}"#],
    &[r#"{"a":[{"b":2,"c":3},1]}"#],
    &[r#"[{"a":1},{"b":2}]"#],
    &[r#"[{"b":2},{"a":1}]"#],
    &[r#"[{"a":1,"b":2}]"#],
];

fn of(json: &str) -> Digest {
    fingerprint(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[test]
fn equal_meanings_and_only_these_have_equal_fingerprints() {
    for (i, meaning) in MEANINGS.iter().enumerate() {
        for json in *meaning {
            for (k, other) in MEANINGS.iter().enumerate() {
                for other in *other {
                    assert_eq!(of(json) == of(other), i == k, "{json} and {other}");
                }
            }
        }
    }
}

#[test]
fn white_space_may_stand_around_every_token() {
    let tokens = [
        "", "{", r#""a""#, ":", "[", "1", ",", r#""b""#, ",", "{", "}", "]", ",", r#""c""#, ":",
        "null", "}", "",
    ];
    for space in [" ", "\t", "\n", "\r", " \r\n\t "] {
        assert_eq!(of(&tokens.join(space)), of(&tokens.concat()), "{space:?}");
    }
}

/// The digest of those members whose name is in `keep`.
fn kept(json: &str, keep: &[&str]) -> Result<Option<Digest>, JsonError> {
    let print = Fingerprinter::<Exact>::new(0);
    print.shape(json.as_bytes(), keep).map(|shape| shape.primary)
}

/// An object, the names to keep, and the rest, or `None` if no member is left.
type Kept = (&'static str, &'static [&'static str], Option<&'static str>);

const KEPT: &[Kept] = &[
    (r#"{"a":1,"b":2}"#, &["a"], Some(r#"{"a":1}"#)),
    (r#"{"a":1,"b":2}"#, &["b"], Some(r#"{"b":2}"#)),
    (r#"{"a":1,"b":2}"#, &["b", "a"], Some(r#"{"a":1,"b":2}"#)),
    (r#"{"a":1,"b":2}"#, &["a", "a", "c"], Some(r#"{"a":1}"#)),
    (r#"{"c":0,"b":2,"d":[],"a":1}"#, &["a", "b"], Some(r#"{"a":1,"b":2}"#)),
    (r#"{"a":1,"b":2}"#, &["c"], None),
    (r#"{"a":1,"b":2}"#, &[], None),
    (r#"{"a":1,"b":2}"#, &["ab", "", "A", "a "], None),
    (r#"{"":1,"b":2}"#, &[""], Some(r#"{"":1}"#)),
    (r#"{"\u0061":1,"b":2}"#, &["a"], Some(r#"{"a":1}"#)),
    (r#"{"a\/b":1,"b":2}"#, &["a/b"], Some(r#"{"a/b":1}"#)),
    (r#"{"\\u0061":1}"#, &["a"], None),
    (r#"{"a":1,"a":1,"b":2}"#, &["a"], Some(r#"{"a":1,"a":1}"#)),
    (r#"{"a":{"a":1,"b":2},"b":2}"#, &["a"], Some(r#"{"a":{"a":1,"b":2}}"#)),
    (r#"{"a":[{"b":2}],"b":2}"#, &["a"], Some(r#"{"a":[{"b":2}]}"#)),
    (r#"{"b":{"a":1}}"#, &["a"], None),
    (r#"{"b":{"a":1},"a":{}}"#, &["a"], Some(r#"{"a":{}}"#)),
    ("{}", &["a"], None),
    (r#"[{"a":1}]"#, &["a"], None),
    (r#""a""#, &["a"], None),
    ("null", &["null"], None),
];

#[test]
fn kept_members_are_the_object_without_the_others() {
    for &(json, keep, left) in KEPT {
        assert_eq!(kept(json, keep), Ok(left.map(of)), "{json} keeping {keep:?}");
    }
}

#[test]
fn what_is_not_kept_is_still_checked() {
    for json in [r#"{"a":1,"b":01}"#, r#"{"a":1,"b":{"c":"\ud800"}}"#, r#"{"a":1}x"#, "[1"] {
        let error = fingerprint(json.as_bytes()).unwrap_err();
        assert_eq!(kept(json, &["a"]), Err(error), "{json}");
    }
}
