//! Parts that several steps of `cargo xtask test` have in common.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::machine::{Machine, cargo, root};
use crate::step::{Done, Outcome, failed_at, run};
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The features of default members that are tested. The `defmt` features need a logger to link, so they are built
/// only for the microcontroller; those that need a server, or TLS, are in [`FLEET`].
pub(crate) const FEATURES: &str = "unstuck/json,unstuck/metrics,unstuck/tracing,\
    unstuck-core/postcard,unstuck-text/serde,unstuck-text/similarity";

/// The features that need a server, or TLS.
pub(crate) const FLEET: &str =
    "unstuck-cli/fleet,unstuck-swarm/redis-async,unstuck-swarm/redis-tls";

/// The features whose tests are written in JavaScript.
pub(crate) const WASM: &str = "unstuck-wasm/full,unstuck-wasm/page";

/// The folder for the files of steps.
pub(crate) const FOLDER: &str = "target/xtask";

/// The variable with the name of the step, which has a folder of its own.
pub(crate) const STEP: &str = "XTASK_STEP";

/// Builds the program that `wanted` names (`--bin NAME` or `--example NAME`), and returns its path. Packages and
/// features are those of the default tests, so that nothing is built twice. The program is copied, because another
/// step may build it with other features meanwhile.
///
/// # Errors
///
/// The outcome of the build, if it failed.
pub(crate) fn built(wanted: &[&str; 2]) -> Done<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--locked", "--features", FEATURES]).args(wanted);
    // With an example, cargo enables the features of dev-dependencies, as it does for the tests.
    build.args(["--example", "events", "--message-format", "json-render-diagnostics"]);
    println!("+ cargo build {}", wanted.join(" "));
    let failed = |error| Outcome::Failed(format!("cargo did not start: {error}"));
    let build = build.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(failed)?;
    let messages = String::from_utf8_lossy(&build.stdout);
    let program = executables(&messages).find(|path| path.file_stem() == Some(wanted[1].as_ref()));
    let Some(program) = program.filter(|_| build.status.success()) else {
        return Err(Outcome::Failed(format!("`{}` was not built: {}", wanted[1], build.status)));
    };
    let step = env::var_os(STEP).unwrap_or_else(|| "named".into());
    let folder = root().join(FOLDER).join(step);
    let copy = folder.join(program.file_name().unwrap_or_default());
    // A file that does not exist yet is removed, too.
    let _ = fs::remove_file(&copy);
    fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(program, &copy))
        .map_err(failed_at(&copy))?;
    Ok(copy)
}

/// Returns the programs that messages of cargo name.
fn executables(messages: &str) -> impl Iterator<Item = &Path> {
    let paths = messages.split("\"executable\":\"").skip(1);
    paths.filter_map(|rest| rest.split('"').next()).map(Path::new)
}

/// Checks the format and the lints of a separate workspace.
pub(crate) fn apart(manifest: &str) -> Outcome {
    let manifest = ["--manifest-path", manifest];
    let lints = ["--locked", "--", "-D", "warnings"];
    Outcome::of(cargo().arg("fmt").args(manifest).arg("--check"))
        .and_then(|| Outcome::of(cargo().arg("clippy").args(manifest).args(lints)))
}

/// The crates that compile without `std`, each with its flags. The last one needs `alloc`.
const NO_STD: [&[&str]; 6] = [
    &["unstuck-core"],
    &["unstuck-core", "--features", "postcard,defmt"],
    &["unstuck-json"],
    &["unstuck-text"],
    &["unstuck-text", "--features", "serde"],
    &["unstuck-swarm"],
];

/// Compiles the crates for microcontrollers on a target without `std`. `cargo check` is enough: the steps
/// `firmware`, `footprint` and `c` link programs.
pub(crate) fn no_std(machine: Machine) -> Done {
    let target = Target::Thumbv7m;
    let toolchain = Toolchain::ready(target, machine)?;
    for package in NO_STD {
        let mut check = match package {
            ["unstuck-swarm", ..] => toolchain.cargo_with_alloc("check", target),
            _ => toolchain.cargo("check", target),
        };
        run(check.args(["--target-dir", "target/no_std", "--package"]).args(package))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_messages_of_cargo() {
        let messages = "{\"filenames\":[\"/t/liba.rlib\"],\"executable\":null}\n\
            {\"filenames\":[\"/t/unstuck\"],\"executable\":\"/t/unstuck\",\"fresh\":true}\n\
            {\"executable\":\"/t/examples/table\",\"fresh\":true}\n";
        let found: Vec<_> = executables(messages).collect();
        assert_eq!(found, [Path::new("/t/unstuck"), Path::new("/t/examples/table")]);
    }
}
