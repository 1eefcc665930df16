//! The files that people write and read, by folder and by ending.

use std::path::{Path, PathBuf};

use anyhow::Result;

/// What others have written, or a program.
const SKIPPED: &[&str] =
    &[".git", ".next", ".tools", "dist", "node_modules", "target", "web/src/protocol/api.ts"];

/// Every file below `folders` that ends in one of `endings`, with its text.
pub(crate) fn read(
    root: &Path,
    folders: &[&str],
    endings: &[&str],
) -> Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    for folder in folders {
        collect(&root.join(folder), endings, &mut files)?;
    }
    Ok(files)
}

fn collect(folder: &Path, endings: &[&str], files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
            continue;
        }
        if path.is_dir() {
            collect(&path, endings, files)?;
        } else if path.extension().is_some_and(|end| endings.iter().any(|wanted| end == *wanted)) {
            let text = std::fs::read_to_string(&path)?;
            files.push((path, text));
        }
    }
    Ok(())
}
