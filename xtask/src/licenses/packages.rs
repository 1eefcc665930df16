//! Which third-party packages are distributed: the crates linked into the binary and the npm packages in the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cargo;

/// One platform, so that the list is the same on every machine. Releases for other platforms link no further crates.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Packages for development whose code is nevertheless in the page: the base styles and the module loader.
const BUNDLED_TOOLS: &[&str] = &["tailwindcss", "vite"];

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The SPDX expression from the manifest.
    pub(crate) license: String,
    pub(crate) folder: PathBuf,
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Names and versions. Procedural macros and build scripts run at compile time and are not linked.
pub(crate) fn linked_crates(root: &Path) -> Result<BTreeSet<(String, String)>> {
    let tree = cargo::output(
        root,
        &[
            "tree",
            "--package",
            "pilothouse",
            "--edges",
            "normal,no-proc-macro",
            "--target",
            PLATFORM,
            "--prefix",
            "none",
            "--no-dedupe",
            "--locked",
            "--format",
            "{p}",
        ],
    )?;
    let lines = String::from_utf8(tree)?;
    // A crate of the workspace has its folder after its version.
    let third_party = lines.lines().filter(|line| !line.contains('('));
    Ok(third_party
        .filter_map(|line| line.trim().split_once(" v"))
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .collect())
}

/// The linked crates with their licenses and the folders of their sources.
pub(crate) fn linked_crates_with_sources(root: &Path) -> Result<BTreeSet<Package>> {
    let metadata: Value = serde_json::from_slice(&cargo::output(
        root,
        &["metadata", "--locked", "--format-version", "1"],
    )?)?;
    let mut known = BTreeMap::new();
    for package in metadata["packages"].as_array().context("packages of cargo metadata")? {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        known.insert((text("name"), text("version")), (text("license"), text("manifest_path")));
    }
    let linked = linked_crates(root)?.into_iter().map(|(name, version)| {
        let key = (name, version);
        let (license, manifest) =
            known.remove(&key).with_context(|| format!("no metadata of {key:?}"))?;
        let folder = Path::new(&manifest).parent().context("a manifest is in a folder")?.to_owned();
        Ok(Package { name: key.0, version: key.1, license, folder })
    });
    linked.collect()
}

/// From the lock file, so that nothing needs to be installed to compare the list with it.
pub(crate) fn bundled_npm_packages(root: &Path) -> Result<BTreeSet<Package>> {
    let web = root.join("web");
    let lock: Value = serde_json::from_slice(&std::fs::read(web.join("package-lock.json"))?)?;
    let mut bundled = BTreeSet::new();
    for (path, package) in lock["packages"].as_object().context("packages of package-lock.json")? {
        let Some((_, name)) = path.rsplit_once("node_modules/") else { continue };
        let development = package["dev"] == true || package["devOptional"] == true;
        // Declarations of types leave nothing in the page.
        if name.starts_with("@types/") || development && !BUNDLED_TOOLS.contains(&name) {
            continue;
        }
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let (name, version, license) = (name.to_owned(), text("version"), text("license"));
        // The same version may be installed at several paths.
        if !bundled.iter().any(|known: &Package| known.name == name && known.version == version) {
            bundled.insert(Package { name, version, license, folder: web.join(path) });
        }
    }
    Ok(bundled)
}
