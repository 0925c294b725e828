//! JSON that this program writes into the files of others, in their layout.

/// The few kinds of JSON values that a hook is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Text(String),
    Number(u32),
    Texts(Vec<String>),
    List(Vec<Written>),
    Map(Vec<(&'static str, Written)>),
}

/// How the place looks that something is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout<'t> {
    /// All on one line.
    Line,
    /// A line for each member, indented by `unit` more than `indent`.
    Block { indent: String, unit: &'t str, newline: &'static str },
}

impl Layout<'_> {
    /// The layout of what stands inside.
    pub(super) fn deeper(&self) -> Self {
        match self {
            Self::Line => Self::Line,
            Self::Block { indent, unit, newline } => {
                Self::Block { indent: format!("{indent}{unit}"), unit, newline }
            }
        }
    }

    /// What a member begins with.
    pub(super) fn start(&self) -> String {
        match self {
            Self::Line => String::new(),
            Self::Block { indent, newline, .. } => format!("{newline}{indent}"),
        }
    }
}

impl Written {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// The value as JSON.
    pub(super) fn json(&self, layout: &Layout<'_>) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
            Self::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(", "))
            }
            Self::List(items) => {
                enclosed(["[", "]"], layout, items.iter().map(|item| item.json(&layout.deeper())))
            }
            Self::Map(members) => {
                let inner = layout.deeper();
                let members = members.iter().map(|(name, value)| member(name, value, &inner));
                enclosed(["{", "}"], layout, members)
            }
        }
    }
}

/// `"name": value`, as it stands in an object of this layout.
pub(super) fn member(name: &str, value: &Written, layout: &Layout<'_>) -> String {
    format!("{}: {}", quoted(name), value.json(layout))
}

fn enclosed(
    brackets: [&str; 2],
    layout: &Layout<'_>,
    parts: impl Iterator<Item = String>,
) -> String {
    let [open, close] = brackets;
    let inner = layout.deeper().start();
    let separator = if *layout == Layout::Line { ", " } else { "," };
    let parts: Vec<_> = parts.map(|part| format!("{inner}{part}")).collect();
    format!("{open}{}{}{close}", parts.join(separator), layout.start())
}

fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_the_layout_of_its_place() {
        let hook = Written::Map(vec![
            ("type", Written::text("command")),
            ("args", Written::Texts(vec!["a \"b\"".to_owned(), "c".to_owned()])),
            ("timeout", Written::Number(5)),
        ]);
        let list = Written::List(vec![hook]);
        let line = r#"[{"type": "command", "args": ["a \"b\"", "c"], "timeout": 5}]"#;
        assert_eq!(list.json(&Layout::Line), line);
        let block = Layout::Block { indent: "\t".to_owned(), unit: "\t", newline: "\r\n" };
        let lines = "[\r\n\t\t{\r\n\t\t\t\"type\": \"command\",\r\n\t\t\t\"args\": [\"a \\\"b\\\"\", \
                     \"c\"],\r\n\t\t\t\"timeout\": 5\r\n\t\t}\r\n\t]";
        assert_eq!(list.json(&block), lines);
    }
}
