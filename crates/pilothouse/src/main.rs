//! Pilothouse: a copilot server, its terminal client and its tools for operators, in one program.

#[expect(clippy::disallowed_macros, reason = "the command line is what talks to the terminal")]
mod cli;
mod config;
mod http;
mod telemetry;
mod wire;

use std::process::ExitCode;

/// Many small short-lived buffers on many threads is what this one is good at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
