//! The page `docs/configuration.md`, written from the table of settings.

use std::fmt::Write;

use super::Settings;

const HEAD: &str = "# Configuration

Pilothouse is configured by its environment. A value is taken from the first place that has it: the
command line, the environment, the file `.env` in the working directory, the file `.env.default` beside
it, the default below. An empty value counts as not set. `pilothouse doctor` prints what is in effect
and where it comes from, with secrets masked. This page is written by `pilothouse configuration`.
";

pub(crate) fn markdown() -> String {
    let mut page = HEAD.to_owned();
    let mut group = "";
    for setting in Settings::ALL {
        if setting.group != group {
            group = setting.group;
            let _ = write!(
                page,
                "\n## {group}\n\n| name | kind | default | meaning |\n|---|---|---|---|\n"
            );
        }
        let default = match setting.default {
            "" => String::new(),
            value => format!("`{value}`"),
        };
        let _ = writeln!(
            page,
            "| `{}` | {} | {default} | {} |",
            setting.name,
            setting.kind,
            setting.doc.trim()
        );
    }
    page
}
