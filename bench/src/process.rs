//! One process of a measured server, with its log in a separate file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// Time limit for a process to become ready.
const START: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(20);
/// The part of a failed process's log that is added to the message.
const LOG_BYTES: usize = 2000;

/// Dropping it kills the process.
pub(crate) struct Process {
    pub(crate) pid: u32,
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Runs in `folder`, so that no configuration file of the benchmark's own folder is used.
    pub(crate) fn start(name: &str, mut command: Command, folder: &Path) -> Result<Self> {
        let path = folder.join(format!("{name}.log"));
        let log = File::create(&path)?;
        let child = command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{name} does not start"))?;
        let pid = child.id().context("the process ended at once")?;
        Ok(Self { pid, name: name.to_owned(), child, log: path })
    }

    /// Polls until the condition is met.
    pub(crate) async fn ready(&mut self, is_ready: impl AsyncFn(&Self) -> bool) -> Result<()> {
        let deadline = Instant::now() + START;
        while !is_ready(self).await {
            if self.child.try_wait()?.is_some() || Instant::now() > deadline {
                bail!("it did not come up. {}", self.last_words());
            }
            sleep(LOOK).await;
        }
        Ok(())
    }

    /// Kills with SIGKILL.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await.with_context(|| format!("could not kill {}", self.name))
    }

    /// Whether a line of the log starts with this.
    pub(crate) fn has_said(&self, start: &str) -> bool {
        self.log_text().lines().any(|line| line.trim_start().starts_with(start))
    }

    /// For the error message.
    pub(crate) fn last_words(&self) -> String {
        let log = self.log_text();
        let tail = &log[log.floor_char_boundary(log.len().saturating_sub(LOG_BYTES))..];
        format!("The log of {}:\n{tail}", self.name)
    }

    fn log_text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }
}
