//! Pilothouse: a copilot server, its terminal client and its operator tools, in one program.

#[expect(clippy::disallowed_macros, reason = "only the command line writes to the terminal")]
mod cli;
mod config;
mod http;
mod telemetry;
mod wire;

use std::process::ExitCode;

/// Suits many small short-lived buffers on many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
