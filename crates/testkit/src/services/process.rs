//! A server process and its descendants, which are paused, resumed and stopped together.

use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) struct ServerProcess {
    child: Child,
    log: PathBuf,
}

impl ServerProcess {
    /// Starts the program under `setpriv --pdeathsig`: the kernel kills it when the calling thread ends, so that even a
    /// killed test leaves no server behind. Call it from a thread that outlives the server.
    pub(crate) fn start(
        name: &str,
        program: &Path,
        prepare: impl FnOnce(&mut Command),
        log: PathBuf,
    ) -> Result<Self> {
        let output = OpenOptions::new().create(true).append(true).open(&log);
        let output: File =
            output.with_context(|| format!("{} cannot be written", log.display()))?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        prepare(&mut command);
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone().context("could not duplicate the log file handle")?)
            .stderr(output)
            // Its own process group, so that Ctrl-C in a terminal stops the tests but not the servers before them.
            .process_group(0)
            .spawn()
            .with_context(|| format!("{name} ({}) could not be started", program.display()))?;
        Ok(Self { child, log })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Polls until `ready` returns true. Fails when the process exits or the time is over.
    pub(crate) fn wait_until(
        &mut self,
        what: &str,
        at_most: Duration,
        ready: impl Fn() -> bool,
    ) -> Result<()> {
        let deadline = Instant::now() + at_most;
        loop {
            if let Some(status) =
                self.child.try_wait().context("the child process cannot be polled")?
            {
                bail!("{what} exited while starting ({status}); output:\n{}", self.output());
            }
            if ready() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{what} was not ready after {at_most:?}; output:\n{}", self.output());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Sends `signal` to the main process, and kills everything that is left after `at_most`.
    pub(crate) fn stop(&mut self, signal: Signal, at_most: Duration) {
        let all = self.process_tree();
        // A paused process would not handle the signal.
        send(&all, Signal::CONT);
        send(&all[..1], signal);
        let deadline = Instant::now() + at_most;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(POLL_INTERVAL);
        }
        self.kill();
        // Descendants that the main process left behind.
        send(&all[1..], Signal::KILL);
    }

    pub(crate) fn kill(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let all = self.process_tree();
            // Parents first, so that they do not start more children meanwhile.
            send(&all, Signal::KILL);
            let _ = self.child.wait();
        }
    }

    pub(crate) fn pause(&self) {
        send(&self.process_tree(), Signal::STOP);
    }

    pub(crate) fn resume(&self) {
        send(&self.process_tree(), Signal::CONT);
    }

    /// The process and its descendants, parents first.
    fn process_tree(&self) -> Vec<Pid> {
        let parents = parents();
        let mut all = vec![Pid::from_child(&self.child)];
        let mut next = 0;
        while let Some(parent) = all.get(next).copied() {
            all.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
            next += 1;
        }
        all
    }

    fn output(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn send(all: &[Pid], signal: Signal) {
    for pid in all {
        // Fails for a process that has ended meanwhile.
        let _ = kill_process(*pid, signal);
    }
}

/// Every process of the machine with its parent. Process groups are not enough: Postgres processes leave theirs.
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // "PID (NAME) STATE PARENT …"; the name may contain any character.
            let parent = line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((Pid::from_raw(pid)?, Pid::from_raw(parent)?))
        })
        .collect()
}
