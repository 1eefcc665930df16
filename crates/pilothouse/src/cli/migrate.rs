//! `pilothouse migrate`: brings the schema of the data directory up to date. Starting the server does the
//! same; this is for those who want to see it happen before.

use std::process::ExitCode;

use anyhow::Context;

use crate::config::Settings;
use crate::wire;

pub(crate) async fn run(settings: &Settings) -> anyhow::Result<ExitCode> {
    let existed = settings.data.join("pilothouse.db").exists();
    let connected = wire::connect(settings).await?;
    connected.backend.close().await.context("the store could not be closed")?;
    let data = settings.data.display();
    match existed {
        true => println!("The schema in {data} is up to date."),
        false => println!("The schema was created in {data}."),
    }
    Ok(ExitCode::SUCCESS)
}
