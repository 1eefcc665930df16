//! Finds the server programs, or names the package to install.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Finds a program in these folders or on the `PATH`. The error names the command that installs it.
pub(crate) fn find(name: &str, folders: &[PathBuf], package: &str) -> Result<PathBuf> {
    let found = folders.iter().cloned().chain(search_path()).map(|folder| folder.join(name));
    found.into_iter().find(|path| path.is_file()).with_context(|| {
        format!(
            "{name} is missing; install it with: sudo apt-get install -y --no-install-recommends {package} \
             (or scripts/setup-tests.sh, which installs everything the tests need)"
        )
    })
}

/// Folders `DIR/*/bin`, highest version first: Debian installs versions of Postgres side by side.
pub(crate) fn versions_in(folder: &Path) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

/// `PATH` plus the folders of system programs, which are not on every user's `PATH`.
#[expect(clippy::disallowed_methods, reason = "a test tool looks programs up as a shell does")]
fn search_path() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    folders.extend(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders
}
