//! The terminal client against a real server. Waiting for its output blocks a thread, so a test that also runs a model
//! server needs a second one.

mod conversation;
mod follow_ups;
mod updates_at_prompt;

use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::ENGINE;
use super::scripted::ScriptedServer;
use crate::server::{OutputLog, TestServer, wait};

/// A running terminal client and its output.
struct Terminal {
    child: Child,
    shown: OutputLog,
}

impl Terminal {
    fn open(server: &TestServer, arguments: &[&str]) -> Self {
        let mut all = vec!["chat", "--url", server.base()];
        all.extend(arguments);
        let mut child = server
            .command(&all)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let shown = OutputLog::default();
        shown.follow(child.stdout.take().expect("piped"));
        shown.follow(child.stderr.take().expect("piped"));
        Self { child, shown }
    }

    fn say(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("open");
        writeln!(input, "{line}").expect("the terminal reads its input");
    }

    /// Closes the input; the client then exits.
    fn leave(mut self) {
        drop(self.child.stdin.take());
        assert!(self.wait());
    }

    fn times(&self, part: &str) -> usize {
        self.shown.text().matches(part).count()
    }

    fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal is sent");
    }

    fn wait(&mut self) -> bool {
        wait(&mut self.child, Duration::from_secs(20)).expect("it ends").success()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
