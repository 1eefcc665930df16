//! `pilothouse migrate`: brings the schema of the store up to date, or moves an embedded store to other servers.
//! Starting the server does the first as well; this is for those who want to see it happen before.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use backends::Transferred;

use crate::config::Settings;
use crate::wire;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Copy everything of the embedded store in this folder to the Postgres that is configured. The folder is only read.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

pub(crate) async fn run(settings: &Settings, arguments: Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.from {
        None => bring_up_to_date(settings).await,
        Some(from) => copy(settings, from).await,
    }
}

async fn bring_up_to_date(settings: &Settings) -> anyhow::Result<ExitCode> {
    let connected = wire::store::connect(settings).await?;
    connected.backend.close().await.context("the store could not be closed")?;
    let store = wire::store::describe(settings);
    println!("The schema is up to date (store: {store}).");
    Ok(ExitCode::SUCCESS)
}

async fn copy(settings: &Settings, from: &Path) -> anyhow::Result<ExitCode> {
    let done = backends::transfer(&wire::store::options(settings), from)
        .await
        .context("Nothing was copied")?;
    super::print(table(&done, &wire::store::describe(settings))?.trim_end())
}

fn table(done: &Transferred, store: &str) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{:<18} {:>10}  SHA-256, equal on both sides", "copied", "rows")?;
    for line in &done.compared {
        writeln!(text, "{:<18} {:>10}  {}", line.name, line.count, line.digest)?;
    }
    writeln!(text, "Everything is in the new place: {store}.")?;
    for (what, open) in [("Turns", done.open_turns), ("Runs of agents", done.open_executions)] {
        if open > 0 {
            writeln!(text, "{what} that had not ended and go on when a server starts: {open}.")?;
        }
    }
    Ok(text)
}
