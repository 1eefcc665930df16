//! Folders inside a crate that must not know each other, and how modules are written: `mod.rs` in every folder, and paths
//! from `crate::` instead of two levels up.

use std::path::Path;

use anyhow::{Result, bail};

use crate::source_files;

/// A folder, and the modules of its crate that it must not name.
const STRANGERS: &[(&str, &[&str])] = &[
    ("crates/backends/src/postgres", &["sqlite"]),
    ("crates/backends/src/rows", &["postgres", "sqlite"]),
    ("crates/backends/src/rules", &["postgres", "sqlite"]),
    ("crates/backends/src/sqlite", &["postgres"]),
    ("crates/engine/src/execution", &["turn"]),
    ("crates/engine/src/graph", &["turn"]),
    ("crates/engine/src/job", &["execution", "graph", "turn"]),
    ("crates/toolbox/src/blocks", &["tools"]),
    ("crates/toolbox/src/tools", &["blocks"]),
];

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    for (folder, strangers) in STRANGERS {
        let files = source_files::read(root, &[folder], &["rs"])?;
        if files.is_empty() {
            wrong.push(format!("{folder} has no files (xtask/src/rooms.rs)"));
        }
        for (path, text) in &files {
            let named = named_modules(text);
            let known = strangers.iter().filter(|stranger| named.contains(stranger));
            wrong.extend(known.map(|stranger| {
                format!("{} must not use crate::{stranger} (xtask/src/rooms.rs)", shown(root, path))
            }));
        }
    }
    for (path, text) in source_files::read(root, &["bench", "crates", "xtask"], &["rs"])? {
        // Written in two parts, because this file is checked as well.
        if code(&text).any(|line| line.contains(concat!("super::", "super"))) {
            wrong.push(format!("{}: write the path from crate::", shown(root, &path)));
        }
        let folder = path.with_extension("");
        if folder.is_dir() && folder.join("mod.rs").exists() {
            wrong.push(format!("{}: its folder has a mod.rs, too", shown(root, &path)));
        } else if folder.is_dir() && !is_crate_root(&path) {
            wrong.push(format!("{}: move it to mod.rs in its folder", shown(root, &path)));
        }
    }
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("\n")) }
}

/// The files of a crate's binaries and tests have names of their own beside folders of the same name.
fn is_crate_root(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder == "bin" || folder == "tests" || folder == "benches")
}

/// The top modules of the crate that the code names: `a` and `b` in `crate::a::x` and `use crate::{b::y, Z}`.
fn named_modules(text: &str) -> Vec<&str> {
    let mut named = Vec::new();
    let start = |word: &'_ str| word.find(|c: char| !is_word(c)).unwrap_or(word.len());
    for (at, _) in text.match_indices("crate::") {
        // Inside a longer word it is another crate.
        if text[..at].ends_with(is_word) || in_comment(text, at) {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => named.push(&rest[..start(rest)]),
            Some(group) => {
                let mut depth = 0;
                let mut is_first = true;
                for (at, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => is_first = true,
                        c if is_word(c) && is_first => {
                            named.push(&group[at..at + start(&group[at..])]);
                            is_first = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    named
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn in_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with("//")
}

fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_in_paths_and_in_groups_but_not_in_comments() {
        let text = "
            //! See crate::comment.
            use crate::job::{halt::TurnHalt, inner::turn};
            use crate::{Engine, graph::{a, b::c}, turn::x};
            use other_crate::far;
            fn f() { crate::title::shorten() }
        ";
        assert_eq!(named_modules(text), ["job", "Engine", "graph", "turn", "title"]);
    }

    #[test]
    fn the_rooms_of_this_repository_are_separate() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("separate");
    }
}
