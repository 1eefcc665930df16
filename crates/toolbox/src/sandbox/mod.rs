//! A shell command behind walls: its own namespaces without a network, a read-only system, no capabilities, a system
//! call filter, limits on memory, processes, files and time, and one writable folder. Built on bubblewrap. Where the
//! walls cannot be put up there is no sandbox, and therefore no shell; there is no weaker mode.
//!
//! The walls share the kernel with the host. For tenants who attack kernels, run the workers in virtual machines.

mod bwrap_arguments;
mod detect;
mod filter;
mod output;
mod processes;
mod run;

use std::path::PathBuf;
use std::time::Duration;

/// The longest a command may run.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(120);
/// Bytes of each output stream that are kept.
pub const OUTPUT_BYTES: usize = 64 * 1024;
/// Processes alive at once.
pub const MAX_PROCESSES: usize = 64;

/// Proof that a command can be locked in on this machine: only `detect` makes one, after trying.
#[derive(Clone, Debug)]
pub struct Sandbox {
    bwrap: PathBuf,
}

/// One command to run.
#[derive(Clone, Debug)]
pub struct SandboxCommand {
    /// For `bash -c`.
    pub command: String,
    /// The only place it can write to; it sees it as `/workspace`.
    pub workspace: PathBuf,
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    pub end: CommandEnd,
    /// Text without escape sequences, cut with a marker when it was too long.
    pub stdout: String,
    pub stderr: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself; 128 + n when signal n ended it.
    Exited(i32),
    TimedOut,
    Cancelled,
    /// More processes than allowed; all were killed.
    TooManyProcesses,
}
