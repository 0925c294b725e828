//! Reads tables of cases that stand in a text file beside a module.

/// Returns the lines `given => expected` of the section of `text` whose heading begins with `section`.
pub(crate) fn cases(
    text: &'static str,
    section: &str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = text.strip_prefix("## ").expect("a heading");
    let mut sections = text.split("\n## ");
    let section = sections.find(|one| one.starts_with(section)).expect("a section");
    assert!(section.contains(" => "), "a section without a case");
    let lines = section.lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| line.split_once(" => ").expect("what is given, and what is expected"))
}
