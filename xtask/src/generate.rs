//! Documents that are made from the program: made here, committed, and tested to be fresh.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The document and the command of the program that prints it.
const DOCUMENTS: &[(&str, &[&str])] =
    &[("docs/configuration.md", &["configuration"]), ("docs/openapi.json", &["openapi"])];

pub(crate) fn all(root: &Path) -> Result<()> {
    for (path, arguments) in DOCUMENTS {
        let output = Command::new("cargo")
            .args(["run", "--quiet", "-p", "pilothouse", "--"])
            .args(*arguments)
            .current_dir(root)
            .output()
            .with_context(|| format!("printing {path}"))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::write(root.join(path), &output.stdout)?;
        println!("wrote {path}");
    }
    Ok(())
}
