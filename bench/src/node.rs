//! Prepares the Node server: installs its packages once, from the lock file beside it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;
use tokio::time::timeout;

const INSTALL: Duration = Duration::from_secs(120);

/// The folder of the Node server, ready to run.
pub(crate) async fn ready() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("node");
    if !folder.join("node_modules/resumable-stream").exists() {
        eprintln!("installing the packages of {}", folder.display());
        let mut install = Command::new("npm");
        install.args(["ci", "--silent", "--no-audit", "--no-fund"]);
        install.current_dir(&folder).kill_on_drop(true);
        let status = timeout(INSTALL, install.status()).await.context("npm takes too long")?;
        ensure!(status.context("there is no npm")?.success(), "npm could not install");
    }
    Ok(folder)
}
