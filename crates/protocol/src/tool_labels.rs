//! How clients show the calls of a tool: its label and icon, verbs, and which argument a call is about.

use std::borrow::Cow;

use serde::Serialize;

use crate::text_enum::text_enum;

/// A call is shown as its label, a verb and an object: "Documentation · Searched for “tides”".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ToolLabels {
    /// The name of the tool for people, or of what it works on.
    pub label: Cow<'static, str>,
    pub icon: ToolIcon,
    /// The verb while the call runs. May be empty.
    pub doing: &'static str,
    /// The verb after the call. May be empty.
    pub done: &'static str,
    /// Replaces `done` while the call waits for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<&'static str>,
    /// What the verb applies to, if that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ToolObject>,
}

/// The argument that a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ToolObject {
    /// Names of arguments: the first of them that is a text with content is shown. Empty means any argument.
    pub arguments: &'static [&'static str],
    pub style: ToolObjectStyle,
}

text_enum! {
    #[derive(utoipa::ToSchema)]
    pub enum ToolObjectStyle {
        Plain = "plain",
        /// In quotation marks.
        Quoted = "quoted",
        /// A URL, shown without `https://`.
        Address = "address",
    }
}

text_enum! {
    /// Icons by their names in the Lucide icon set.
    #[derive(utoipa::ToSchema)]
    pub enum ToolIcon {
        Blocks = "blocks",
        Bot = "bot",
        CircleHelp = "circle-help",
        FilePen = "file-pen",
        FileText = "file-text",
        FileX = "file-x",
        Files = "files",
        FolderClock = "folder-clock",
        Globe = "globe",
        Hourglass = "hourglass",
        Library = "library",
        ListTodo = "list-todo",
        Play = "play",
        Search = "search",
        Split = "split",
        Store = "store",
        Terminal = "terminal",
        Wrench = "wrench",
    }
}

impl ToolLabels {
    pub const fn new(
        label: &'static str,
        icon: ToolIcon,
        doing: &'static str,
        done: &'static str,
    ) -> Self {
        Self { label: Cow::Borrowed(label), icon, doing, done, waiting: None, object: None }
    }

    /// For a tool that only has a name: it is made readable, and the first text argument is the object.
    pub fn generic(name: &str) -> Self {
        let labels = Self::new("", ToolIcon::Wrench, "Running", "").object(&[]);
        Self { label: Cow::Owned(readable_name(name)), ..labels }
    }

    pub fn waiting(self, waiting: &'static str) -> Self {
        Self { waiting: Some(waiting), ..self }
    }

    /// Shows the first of these arguments that is a text with content.
    pub fn object(self, arguments: &'static [&'static str]) -> Self {
        self.styled_object(arguments, ToolObjectStyle::Plain)
    }

    /// Like `object`, in quotation marks.
    pub fn quoted_object(self, arguments: &'static [&'static str]) -> Self {
        self.styled_object(arguments, ToolObjectStyle::Quoted)
    }

    /// Like `object`, for a URL.
    pub fn address_object(self, arguments: &'static [&'static str]) -> Self {
        self.styled_object(arguments, ToolObjectStyle::Address)
    }

    fn styled_object(self, arguments: &'static [&'static str], style: ToolObjectStyle) -> Self {
        Self { object: Some(ToolObject { arguments, style }), ..self }
    }
}

/// `fetch_csv` becomes "Fetch CSV". The page does the same with the name of a tool that it has no labels for.
fn readable_name(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let words = words.map(|word| match ABBREVIATIONS.contains(&word) {
        true => word.to_uppercase(),
        false => word.to_owned(),
    });
    let mut text = words.collect::<Vec<_>>().join(" ");
    match text.get_mut(..1) {
        Some(first) => first.make_ascii_uppercase(),
        None => name.clone_into(&mut text),
    }
    text
}

const ABBREVIATIONS: &[&str] =
    &["ai", "api", "csv", "html", "http", "id", "json", "rss", "sql", "url", "xml"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_readable() {
        for (name, readable) in [
            ("print_chart", "Print chart"),
            ("fetch_csv", "Fetch CSV"),
            ("id", "ID"),
            ("print_3d", "Print 3d"),
            ("__x__y", "X y"),
            ("_", "_"),
            ("", ""),
        ] {
            assert_eq!(readable_name(name), readable);
        }
    }
}
