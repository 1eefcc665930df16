//! The process of a server and the processes it has started: all of them are paused, resumed and ended together.

use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(super) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts it under `setpriv`, which makes the kernel end it when the thread that starts it here dies: not even a
    /// killed test leaves a server behind. So start it from a thread that outlives it.
    pub(super) fn start(
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
            .stdout(output.try_clone().context("one more file")?)
            .stderr(output)
            // Of its own, so that Ctrl-C in a terminal reaches the tests, and the servers last until they have ended.
            .process_group(0)
            .spawn()
            .with_context(|| format!("{name} ({}) could not be started", program.display()))?;
        Ok(Self { child, log })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks until it is true. A process that has ended will not become ready.
    pub(super) fn wait_until(
        &mut self,
        what: &str,
        at_most: Duration,
        ready: impl Fn() -> bool,
    ) -> Result<()> {
        let deadline = Instant::now() + at_most;
        loop {
            if let Some(status) = self.child.try_wait().context("a child can be asked")? {
                bail!("{what} ended while it was starting ({status}); it said:\n{}", self.said());
            }
            if ready() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{what} was not ready after {at_most:?}; it said:\n{}", self.said());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Asks the process itself to end, and ends everything that is left when the time is over.
    pub(super) fn stop(&mut self, signal: Signal, at_most: Duration) {
        let all = self.family();
        // It could not hear the signal while it is paused.
        send(&all, Signal::CONT);
        send(&all[..1], signal);
        let deadline = Instant::now() + at_most;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK_EVERY);
        }
        self.kill();
        // Children of the process that were no children of ours.
        send(&all[1..], Signal::KILL);
    }

    pub(super) fn kill(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let all = self.family();
            // The parent first: it must not start another one meanwhile.
            send(&all, Signal::KILL);
            let _ = self.child.wait();
        }
    }

    pub(super) fn pause(&self) {
        send(&self.family(), Signal::STOP);
    }

    pub(super) fn resume(&self) {
        send(&self.family(), Signal::CONT);
    }

    /// The process and all it has started, parents first.
    fn family(&self) -> Vec<Pid> {
        let parents = parents();
        let mut all = vec![Pid::from_child(&self.child)];
        let mut next = 0;
        while let Some(parent) = all.get(next).copied() {
            all.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
            next += 1;
        }
        all
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn send(all: &[Pid], signal: Signal) {
    for pid in all {
        // One that has ended meanwhile needs no signal.
        let _ = kill_process(*pid, signal);
    }
}

/// Every process of the machine with its parent. A process group would not do: the processes of Postgres leave it.
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // "PID (NAME) STATE PARENT …", and a name may contain anything.
            let parent = line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
            Some((Pid::from_raw(pid)?, Pid::from_raw(parent)?))
        })
        .collect()
}
