//! Prints the longest files: a place to look, not a verdict.

use std::path::{Path, PathBuf};

use anyhow::Result;

/// How files end that people write and read.
const WRITTEN: &[&str] = &["css", "js", "mjs", "rs", "ts", "tsx"];

/// What others have written, or a program.
const SKIPPED: &[&str] = &["dist", "node_modules", "target", "web/src/protocol/api.ts"];

pub(crate) fn print(root: &Path) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "bench", "clients", "web"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort_by_key(|(lines, _)| std::cmp::Reverse(*lines));
    let total: usize = files.iter().map(|(lines, _)| lines).sum();
    println!("{} files, {total} lines, the longest:", files.len());
    for (lines, path) in files.iter().take(10) {
        println!("{lines:6}  {}", path.strip_prefix(root).unwrap_or(path).display());
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<(usize, PathBuf)>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|end| WRITTEN.iter().any(|written| end == *written))
        {
            files.push((std::fs::read_to_string(&path)?.lines().count(), path));
        }
    }
    Ok(())
}
