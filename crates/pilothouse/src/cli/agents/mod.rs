//! `pilothouse agents`: lists, runs, inspects and builds agents from the terminal.

mod agent_argument;
mod agent_file;
mod diff_agents;
mod execution;
mod find;
mod fix_agent;
mod follow;
mod inputs;
mod marketplace;
mod new_agent;
mod node_names;
mod problem_text;
mod rehearsal_text;
mod rehearse_agent;
mod start;
mod validate_agent;

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use protocol::library::LibraryAgent;

pub(crate) use self::find::graph_id;
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
    /// Save an agent from a file as a new agent of your library
    New(new_agent::NewArguments),
    /// Check an agent without running it. Exits with 1 if it has errors
    Validate(validate_agent::ValidateArguments),
    /// Repair the mistakes of an agent that have only one repair. Exits with 1 if errors are left
    Fix(fix_agent::FixArguments),
    /// Compare two agents, or two versions of one
    Diff(diff_agents::DiffArguments),
    /// Run an agent without touching anything outside the server. Exits with 0 only if it is ready to use
    Rehearse(rehearse_agent::RehearseArguments),
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
        AgentsCommand::New(arguments) => new_agent::run(settings, arguments).await,
        AgentsCommand::Validate(arguments) => validate_agent::run(settings, arguments).await,
        AgentsCommand::Fix(arguments) => fix_agent::run(settings, arguments).await,
        AgentsCommand::Diff(arguments) => diff_agents::run(settings, arguments).await,
        AgentsCommand::Rehearse(arguments) => rehearse_agent::run(settings, arguments).await,
    }
}

/// Prints a result of the server, or the error.
pub(crate) fn print_result(
    client: &ApiClient,
    text: Result<String, ClientError>,
) -> anyhow::Result<ExitCode> {
    match text {
        Ok(text) => super::print(escaped(&text).trim_end()),
        Err(failure) => Ok(print_error(client, &failure)),
    }
}

pub(crate) fn print_error(client: &ApiClient, failure: &ClientError) -> ExitCode {
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
