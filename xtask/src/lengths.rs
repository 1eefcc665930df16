//! Prints the longest files: a place to look, not a verdict.

use std::path::Path;

use anyhow::Result;

use crate::source_files;

const FOLDERS: &[&str] = &["crates", "xtask", "bench", "clients", "examples", "web"];
const ENDINGS: &[&str] = &["css", "js", "mjs", "py", "rs", "ts", "tsx"];

pub(crate) fn print(root: &Path) -> Result<()> {
    let mut files: Vec<_> = source_files::read(root, FOLDERS, ENDINGS)?
        .into_iter()
        .map(|(path, text)| (text.lines().count(), path))
        .collect();
    files.sort_by_key(|(lines, _)| std::cmp::Reverse(*lines));
    let total: usize = files.iter().map(|(lines, _)| lines).sum();
    println!("{} files, {total} lines, the longest:", files.len());
    for (lines, path) in files.iter().take(10) {
        println!("{lines:6}  {}", path.strip_prefix(root).unwrap_or(path).display());
    }
    Ok(())
}
