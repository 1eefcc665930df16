//! `pilothouse agents`: lists, runs and inspects agents from the terminal.

mod execution;
mod find;
mod follow;
mod inputs;
mod marketplace;
mod node_names;
mod start;

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use protocol::library::LibraryAgent;

pub(super) use self::find::graph_id;
use super::client::{ApiClient, ClientError, ServerFlags};
use super::terminal::{escaped, note, shortened};
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct AgentsArguments {
    #[command(subcommand)]
    command: AgentsCommand,
}

#[derive(Subcommand)]
enum AgentsCommand {
    /// List the agents of your library, or of the marketplace
    List {
        /// List marketplace agents
        #[arg(long)]
        store: bool,
        /// Only agents that match these words, best match first
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
        #[command(flatten)]
        server: ServerFlags,
    },
    /// Run an agent. Exits with 1 if the run failed or was stopped, and with 3 if it needs approval
    Run(start::RunArguments),
    /// Show the outputs and steps of a run
    Show {
        /// The id of the run
        execution: String,
        #[command(flatten)]
        server: ServerFlags,
    },
}

pub(crate) async fn run(
    settings: &Settings,
    arguments: AgentsArguments,
) -> anyhow::Result<ExitCode> {
    match arguments.command {
        AgentsCommand::List { store, search, server } => {
            let client = ApiClient::new(settings, server)?;
            let words = search.as_deref();
            let text = match store {
                true => marketplace::list(&client, words)
                    .await
                    .map(|listings| marketplace::table(&listings)),
                false => find::library(&client, words).await.map(|agents| table(&agents, words)),
            };
            print_result(&client, text)
        }
        AgentsCommand::Run(arguments) => start::run(settings, arguments).await,
        AgentsCommand::Show { execution, server } => {
            let client = ApiClient::new(settings, server)?;
            let shown = execution::read(&client, &execution, execution::NodeDetail::Shown).await;
            print_result(&client, shown.map(|shown| shown.text()))
        }
    }
}

/// Prints a result of the server, or the error.
pub(super) fn print_result(
    client: &ApiClient,
    text: Result<String, ClientError>,
) -> anyhow::Result<ExitCode> {
    match text {
        Ok(text) => super::print(escaped(&text).trim_end()),
        Err(failure) => Ok(print_error(client, &failure)),
    }
}

pub(super) fn print_error(client: &ApiClient, failure: &ClientError) -> ExitCode {
    note(&client.explain(failure));
    ExitCode::FAILURE
}

fn table(agents: &[LibraryAgent], words: Option<&str>) -> String {
    if agents.is_empty() {
        let none = match words {
            Some(_) => "No agents found in your library.",
            None => "Your library is empty.",
        };
        return format!("{none} To list marketplace agents: pilothouse agents list --store");
    }
    let mut text = format!("{:<36}  {:>7}  {:<20}  {}\n", "id", "version", "last run", "name");
    for agent in agents {
        let last = agent.last_run_at.map_or_else(|| "-".to_owned(), |at| format!("{at:.0}"));
        let (id, version) = (&agent.graph_id.0, agent.graph_version);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{id:<36}  {version:>7}  {last:<20}  {}", shortened(&agent.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn an_empty_library_points_to_the_marketplace() {
        for words in [None, Some("mail")] {
            assert!(table(&[], words).contains("pilothouse agents list --store"));
        }
    }
}
