//! Documents name things that exist: every path in backticks in a Markdown file leads to a file or a folder, and every
//! law that a seam in `ports` promises is a function of the conformance suite.

use std::path::Path;

use anyhow::{Result, bail};

use crate::source_files;

/// Documents are written from the root, from the crates folder, or from the sources of a crate.
const BASES: &[&str] = &["", "crates", "docs", "web", "web/src"];

/// Where programs and their users keep things; not part of the repository.
const ELSEWHERE: &[&str] = &["/", "~", "data/", "./data", "target/", "web/dist"];

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    for (path, text) in source_files::read(root, &[""], &["md"])? {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let folder = path.parent().unwrap_or(root);
        for (number, line) in text.lines().enumerate() {
            for quoted in quotes(line).filter(|quoted| looks_like_a_path(quoted)) {
                if !exists(root, folder, quoted) {
                    wrong.push(format!("{shown}:{}: `{quoted}` does not exist", number + 1));
                }
            }
        }
    }
    wrong.extend(missing_laws(root)?);
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("\n")) }
}

/// What stands between backticks on one line.
fn quotes(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// A slash between two names, and an ending that source files and documents have, or none with a slash at the end.
fn looks_like_a_path(quoted: &str) -> bool {
    let plain = quoted
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "/._-*{},<>".contains(letter));
    let ends = [".rs", ".md", ".ts", ".tsx", ".toml", ".sh", ".yaml", ".mjs", ".py", ".jsonl"];
    let names_a_file = ends.iter().any(|end| quoted.ends_with(end)) || quoted.ends_with('/');
    plain
        && quoted.contains('/')
        && names_a_file
        && !ELSEWHERE.iter().any(|start| quoted.starts_with(start))
        && !quoted.contains('<')
}

fn exists(root: &Path, folder: &Path, quoted: &str) -> bool {
    expand(quoted).iter().all(|path| {
        let found = |base: &Path| match path.split_once('*') {
            // The folder of a pattern has to exist.
            Some((start, _)) => {
                base.join(start.rsplit_once('/').map_or("", |(folder, _)| folder)).is_dir()
            }
            None => base.join(path).exists(),
        };
        found(folder) || BASES.iter().any(|base| found(&root.join(base)))
    })
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expand(path: &str) -> Vec<String> {
    let Some((start, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((choices, end)) = rest.split_once('}') else { return vec![path.to_owned()] };
    choices.split(',').flat_map(|choice| expand(&format!("{start}{choice}{end}"))).collect()
}

/// Laws are named in backticks in the comments of `ports` and are functions of the conformance suite, or of the tests
/// of the toolbox for tools and blocks.
fn missing_laws(root: &Path) -> Result<Vec<String>> {
    let mut proved = String::new();
    let suites = ["crates/testkit/src/conformance", "crates/toolbox", "crates/engine"];
    for (_, text) in source_files::read(root, &suites, &["rs"])? {
        proved.push_str(&text);
    }
    let mut wrong = Vec::new();
    for (path, text) in source_files::read(root, &["crates/ports/src"], &["rs"])? {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        for line in text.lines().filter(|line| line.trim_start().starts_with("//")) {
            for law in quotes(line).filter(|quoted| looks_like_a_law(quoted)) {
                if !["(", "<"].iter().any(|end| proved.contains(&format!("fn {law}{end}"))) {
                    wrong.push(format!("{shown}: no test proves the law `{law}`"));
                }
            }
        }
    }
    Ok(wrong)
}

/// A sentence with underscores; anything shorter is a name of the code.
fn looks_like_a_law(quoted: &str) -> bool {
    quoted.matches('_').count() >= 3
        && quoted.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
}
