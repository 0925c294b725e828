//! JSON values that adopt the layout of the file they are written to.

/// The kinds of JSON values in an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    Number(u32),
    Texts(Vec<String>),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// The layout of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout<'t> {
    /// Everything on one line.
    Line,
    /// One line for each member, indented by `indent` and one more `unit`.
    Block { indent: String, unit: &'t str, newline: &'static str },
}

impl Layout<'_> {
    /// Returns the layout one level deeper.
    pub(super) fn deeper(&self) -> Self {
        match self {
            Self::Line => Self::Line,
            Self::Block { indent, unit, newline } => {
                Self::Block { indent: format!("{indent}{unit}"), unit, newline }
            }
        }
    }

    /// Returns the text before a member: a line break and the indentation, or no text.
    pub(super) fn start(&self) -> String {
        match self {
            Self::Line => String::new(),
            Self::Block { indent, newline, .. } => format!("{newline}{indent}"),
        }
    }
}

impl Json {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Returns the value as JSON.
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
            Self::Object(members) => {
                let inner = layout.deeper();
                let members = members.iter().map(|(name, value)| member(name, value, &inner));
                enclosed(["{", "}"], layout, members)
            }
        }
    }
}

/// Returns `"name": value` in this layout.
pub(super) fn member(name: &str, value: &Json, layout: &Layout<'_>) -> String {
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
    fn a_value_adopts_a_layout() {
        let hook = Json::Object(vec![
            ("type", Json::text("command")),
            ("args", Json::Texts(vec!["a \"b\"".to_owned(), "c".to_owned()])),
            ("timeout", Json::Number(5)),
        ]);
        let list = Json::List(vec![hook]);
        let line = r#"[{"type": "command", "args": ["a \"b\"", "c"], "timeout": 5}]"#;
        assert_eq!(list.json(&Layout::Line), line);
        let block = Layout::Block { indent: "\t".to_owned(), unit: "\t", newline: "\r\n" };
        let lines = "[\r\n\t\t{\r\n\t\t\t\"type\": \"command\",\r\n\t\t\t\"args\": [\"a \\\"b\\\"\", \
                     \"c\"],\r\n\t\t\t\"timeout\": 5\r\n\t\t}\r\n\t]";
        assert_eq!(list.json(&block), lines);
    }
}
