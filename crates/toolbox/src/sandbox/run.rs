//! Runs a command in the sandbox until it exits, times out, is canceled, or its future is dropped.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::pin::{Pin, pin};
use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt;
use futures::future::FusedFuture;
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::output::CapturedOutput;
use super::{
    CommandEnd, CommandOutput, MAX_TIMEOUT, Sandbox, SandboxCommand, bwrap_arguments, filter,
    processes,
};

/// How long to read the remaining output of a killed command.
const REMAINING_OUTPUT: Duration = Duration::from_secs(2);

impl Sandbox {
    /// Runs the command to its end. Dropping the future also kills the whole process tree.
    pub async fn run(
        &self,
        job: SandboxCommand,
        cancel: CancellationToken,
    ) -> io::Result<CommandOutput> {
        if !bwrap_arguments::is_usable(&job.workspace) {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the workspace folder does not exist",
            ));
        }
        let job = SandboxCommand {
            timeout: job.timeout.clamp(Duration::from_secs(1), MAX_TIMEOUT),
            ..job
        };
        let mut child = self.start(&job)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (Some(stdout), Some(stderr), Some(id)) = (stdout, stderr, child.id()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let (mut out, mut err) = (CapturedOutput::default(), CapturedOutput::default());
        let ending = {
            let mut reading =
                pin!(async { tokio::join!(out.drain(stdout), err.drain(stderr)) }.fuse());
            let ending = tokio::select! {
                // Polled in this order, so that a command that exits at the last moment counts as exited.
                biased;
                code = finish(&mut child, reading.as_mut()) => CommandEnd::Exited(code?),
                () = cancel.cancelled() => CommandEnd::Cancelled,
                () = tokio::time::sleep(job.timeout) => CommandEnd::TimedOut,
                () = processes::too_many(id) => CommandEnd::TooManyProcesses,
            };
            if !matches!(ending, CommandEnd::Exited(_)) {
                // Killing bubblewrap kills the first process of the namespace, and the kernel then kills all others.
                child.kill().await?;
            }
            if !reading.is_terminated() {
                // The pipes end with the last process; the output until then is part of the result.
                let _ = tokio::time::timeout(REMAINING_OUTPUT, reading).await;
            }
            ending
        };
        Ok(CommandOutput { end: ending, stdout: out.into_text(), stderr: err.into_text() })
    }

    fn start(&self, job: &SandboxCommand) -> io::Result<Child> {
        let (filter_for_child, mut filter) = io::pipe()?;
        filter.write_all(&filter::program().map_err(io::Error::other)?)?;
        drop(filter);
        Command::new(&self.bwrap)
            .args(bwrap_arguments::arguments(job))
            // Bubblewrap clears the command's environment, but its own is readable inside as that of process 1.
            .env_clear()
            .stdin(Stdio::from(filter_for_child))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
}

/// The exit code, after the command has exited and its output is read. Processes it left in the background are killed
/// with it, so the output ends.
async fn finish(
    child: &mut Child,
    reading: Pin<&mut impl Future<Output = ((), ())>>,
) -> io::Result<i32> {
    let (_, status) = tokio::join!(reading, child.wait());
    let status = status?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}
