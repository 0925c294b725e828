//! Reads the runs that are known to be healthy, in an order that is random and always the same.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use unstuck_json::{Hash64 as _, Rapid};
use unstuck_report::shown::counted;

use crate::calibrate::options::Tune;
use crate::exit::Exit;
use crate::output::{complain, remark};
use crate::read::inputs::{self, Input, same_file};
use crate::read::progress::Progress;
use crate::read::reading::read_each;

/// Returns what `work` makes of each file, some results for the runs of one, and the exit code, because some files may
/// be unreadable. A file without a result is left out with a remark.
pub(super) fn read<T: Send + 'static>(
    tune: &Tune,
    work: impl Fn(&Input, &Progress) -> Result<Vec<T>, String> + Send + Sync + 'static,
) -> Result<(Vec<T>, Exit), Exit> {
    let inputs = inputs::find(&tune.healthy);
    let files = inputs.found.iter().filter_map(|input| match input {
        Input::File(path) => Some(path.as_path()),
        Input::Stdin => None,
    });
    spare(tune, tune.config.as_deref().into_iter().chain(files))?;
    for (path, why) in &inputs.errors {
        complain(path, why);
    }
    let named = inputs.found.into_iter().map(|input| (input.clone(), input.name())).collect();
    let (mut runs, unread) = read_each(named, move |input, _, progress| work(input, progress));
    let empty = runs.iter().filter(|(_, results)| results.is_empty()).count();
    if empty > 0 {
        let what = format!("left out {} in which the agent did nothing", counted(empty, "run"));
        remark("--healthy", &what);
    }
    runs.sort_by_cached_key(|(name, _)| (hash(within(&tune.healthy, name)), name.clone()));
    let exit = if inputs.errors.is_empty() { unread } else { Exit::Input };
    Ok((runs.into_iter().flat_map(|(_, results)| results).collect(), exit))
}

/// Refuses to write to a file that is an input.
fn spare<'i>(tune: &Tune, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), Exit> {
    let Some(path) = &tune.output else { return Ok(()) };
    if inputs.into_iter().any(|input| same_file(input, path)) {
        let why = "is also an input, and writing would destroy it: name another file";
        complain(&path.display().to_string(), why);
        return Err(Exit::Setup);
    }
    Ok(())
}

/// Returns the part of the name of a run that is behind one of the paths that were given, however these are spelled, or
/// the name of its file.
fn within<'n>(given: &[PathBuf], name: &'n str) -> &'n Path {
    let path = Path::new(name);
    let behind = given.iter().find_map(|folder| path.strip_prefix(folder).ok());
    let behind = behind.filter(|behind| !behind.as_os_str().is_empty());
    behind.or_else(|| path.file_name().map(Path::new)).unwrap_or(path)
}

/// Returns the hash that orders runs. The seed is fixed, so that the same runs are always split
/// alike.
fn hash(path: &Path) -> u64 {
    let parts: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    Rapid::new(0).hash(parts.join("/").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{hash, within};

    #[test]
    fn runs_are_split_alike_on_every_machine_and_from_every_folder() {
        assert_eq!(hash(Path::new("a/0.jsonl")), 10_358_128_424_165_992_904);
        for (given, name, expected) in [
            ("good", "good/a/0.jsonl", "a/0.jsonl"),
            ("/home/me/good/", "/home/me/good/a/0.jsonl", "a/0.jsonl"),
            ("../good", "../good/a/0.jsonl", "a/0.jsonl"),
            ("good/a/0.jsonl", "good/a/0.jsonl", "0.jsonl"),
            ("-", "-", "-"),
        ] {
            assert_eq!(within(&[PathBuf::from(given)], name), Path::new(expected), "{given}");
        }
    }
}
