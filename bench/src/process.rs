//! One process of a server that is measured, with its log in a file of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// A process that is not ready by then does not start.
const START: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(20);
/// What the log of a process that failed may add to the message.
const LOG_BYTES: usize = 2000;

/// Dropping it kills the process.
pub(crate) struct Process {
    pub(crate) pid: u32,
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Runs in the folder, where no configuration file of the benchmark's own folder takes part.
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

    /// Asks until the answer is yes.
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

    /// Without a chance to do anything about it.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await.with_context(|| format!("{} cannot be killed", self.name))
    }

    /// Whether a line of the log starts with this.
    pub(crate) fn has_said(&self, start: &str) -> bool {
        self.log_text().lines().any(|line| line.trim_start().starts_with(start))
    }

    /// For the message about a failure.
    pub(crate) fn last_words(&self) -> String {
        let log = self.log_text();
        let tail = &log[log.floor_char_boundary(log.len().saturating_sub(LOG_BYTES))..];
        format!("The log of {}:\n{tail}", self.name)
    }

    fn log_text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }
}
