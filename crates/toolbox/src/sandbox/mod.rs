//! Sandbox for shell commands: separate namespaces without a network, a read-only system, no capabilities, a system call
//! filter, limits on memory, processes, files and time, and one writable folder. Built on bubblewrap. Without working
//! isolation there is no sandbox and therefore no shell; there is no weaker mode.
//!
//! The sandbox shares the kernel with the host. Against tenants who attack kernels, run the workers in virtual machines.

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

/// A working sandbox. Only `detect` creates one, after it has tested the isolation on this machine.
#[derive(Clone, Debug)]
pub struct Sandbox {
    bwrap: PathBuf,
}

/// One command to run.
#[derive(Clone, Debug)]
pub struct SandboxCommand {
    /// For `bash -c`.
    pub command: String,
    /// The only folder it can write to, mounted as `/workspace`.
    pub workspace: PathBuf,
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    pub end: CommandEnd,
    /// Text without escape sequences, truncated with a marker when too long.
    pub stdout: String,
    pub stderr: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// Exit code; 128 + n when signal n ended the command.
    Exited(i32),
    TimedOut,
    Cancelled,
    /// More processes than allowed; all were killed.
    TooManyProcesses,
}
