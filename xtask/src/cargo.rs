//! Runs cargo and reads what it prints.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

pub(crate) fn output(root: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output =
        Command::new("cargo").args(arguments).current_dir(root).output().context("cargo")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}
