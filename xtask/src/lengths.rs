//! Prints the longest files: a place to look, not a verdict.

use std::path::{Path, PathBuf};

use anyhow::Result;

pub(crate) fn print(root: &Path) -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "bench", "clients"] {
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
        let skipped =
            path.file_name().is_some_and(|name| name == "node_modules" || name == "target");
        if path.is_dir() && !skipped {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "rs" || end == "mjs" || end == "js") {
            files.push((std::fs::read_to_string(&path)?.lines().count(), path));
        }
    }
    Ok(())
}
