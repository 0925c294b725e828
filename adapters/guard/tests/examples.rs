//! The output of the examples.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Returns the path of an example's program. Examples are in a folder beside this program.
fn program(example: &str) -> PathBuf {
    let tests = env::current_exe().expect("this program");
    let profile = tests.ancestors().nth(2).expect("the folder of the profile");
    profile.join("examples").join(example).with_extension(env::consts::EXE_EXTENSION)
}

#[test]
fn each_example_tells_its_story() {
    for example in ["agent", "freed", "spawned", "stopped", "swarm"] {
        let mut run = Command::new(program(example));
        let output = run.env_remove("UNSTUCK").output();
        let output = output.expect("build it first: cargo build --package unstuck --examples");
        assert!(output.status.success() && output.stderr.is_empty(), "{example}: {output:?}");
        insta::assert_snapshot!(example, String::from_utf8_lossy(&output.stdout));
    }
}
