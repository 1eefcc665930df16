//! The crates may depend on each other only along the arrows of ARCHITECTURE.md.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Each crate and the crates of ours it may name, for its own code and then for its tests.
const ARROWS: &[(&str, &[&str], &[&str])] = &[
    ("pilothouse-protocol", &[], &[]),
    ("pilothouse-ports", &["protocol"], &[]),
    ("pilothouse-graphs", &["protocol"], &[]),
    ("pilothouse-engine", &["protocol", "ports", "graphs"], &["testkit"]),
    ("pilothouse-backends", &["protocol", "ports"], &["testkit"]),
    ("pilothouse-toolbox", &["protocol", "ports", "graphs"], &["testkit"]),
    ("pilothouse-testkit", &["protocol", "ports"], &[]),
    ("pilothouse", &["protocol", "ports", "graphs", "engine", "backends", "toolbox"], &["testkit"]),
    ("pilothouse-bench", &["protocol", "testkit"], &[]),
    ("xtask", &[], &[]),
];

pub(crate) fn check(root: &Path) -> Result<()> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().context("packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, own, tests)) = ARROWS.iter().find(|(crate_name, ..)| *crate_name == name)
        else {
            wrong.push(format!("{name} has no place in the architecture (xtask/src/arrows.rs)"));
            continue;
        };
        for dependency in package["dependencies"].as_array().context("dependencies")? {
            if dependency["path"].is_null() {
                continue;
            }
            let target =
                dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap_or_default();
            let allowed =
                own.contains(&target) || (dependency["kind"] == "dev" && tests.contains(&target));
            if !allowed {
                wrong.push(format!("{name} must not depend on {target}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("\n")) }
}
