//! The rule sets of other agents, which the program includes as files.

use unstuck_text::PRESETS;

/// A rule set and its name.
struct Published {
    name: &'static str,
    /// Its file, in the format of `--config`.
    text: &'static str,
}

const PUBLISHED: [Published; 6] = [
    Published { name: "openhands", text: include_str!("../../policies/openhands.toml") },
    Published { name: "gemini-cli", text: include_str!("../../policies/gemini-cli.toml") },
    Published { name: "crush", text: include_str!("../../policies/crush.toml") },
    Published { name: "cline", text: include_str!("../../policies/cline.toml") },
    Published { name: "stella", text: include_str!("../../policies/stella.toml") },
    Published { name: "forge", text: include_str!("../../policies/forge.toml") },
];

/// Returns the names of all policies: the presets, the default first, then the rule sets of other
/// agents.
pub fn names() -> impl Iterator<Item = &'static str> {
    let presets = PRESETS.iter().map(|preset| preset.policy.name());
    presets.chain(PUBLISHED.iter().map(|published| published.name))
}

/// Returns the file of the rule set `name`, or `None` for a preset, which has no file.
pub fn text(name: &str) -> Option<&'static str> {
    PUBLISHED.iter().find(|published| published.name == name).map(|published| published.text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_there_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/policies");
        let files = fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file"));
        let stem = |name: &str| name.strip_suffix(".toml").expect("a policy").to_owned();
        let files = files.map(|file| stem(file.file_name().to_str().expect("UTF-8")));
        let names = PUBLISHED.iter().map(|published| published.name.to_owned());
        assert_eq!(files.collect::<BTreeSet<_>>(), names.collect());
    }
}
