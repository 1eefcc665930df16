//! `pilothouse migrate`: updates the schema of the store, or copies an embedded store to other servers. Starting the
//! server also updates the schema; this command does it beforehand.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use backends::TransferReport;

use crate::config::Settings;
use crate::wire;

#[derive(clap::Args)]
pub(crate) struct MigrateArguments {
    /// Copy the embedded store in this folder to the configured Postgres. The folder is only read
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

pub(crate) async fn run(
    settings: &Settings,
    arguments: MigrateArguments,
) -> anyhow::Result<ExitCode> {
    match &arguments.from {
        None => update_schema(settings).await,
        Some(from) => copy(settings, from).await,
    }
}

async fn update_schema(settings: &Settings) -> anyhow::Result<ExitCode> {
    let connected = wire::store::connect(settings).await?;
    connected.backend.close().await.context("could not close the store")?;
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

fn table(done: &TransferReport, store: &str) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{:<18} {:>10}  SHA-256, equal on both sides", "copied", "rows")?;
    for line in &done.compared {
        writeln!(text, "{:<18} {:>10}  {}", line.name, line.count, line.digest)?;
    }
    writeln!(text, "Everything was copied to {store}.")?;
    for (what, open) in [("Turns", done.open_turns), ("Agent runs", done.open_executions)] {
        if open > 0 {
            writeln!(
                text,
                "{what} that have not ended and will continue when a server starts: {open}."
            )?;
        }
    }
    Ok(text)
}
