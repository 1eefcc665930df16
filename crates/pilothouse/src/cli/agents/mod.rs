//! `pilothouse agents`: agents of a server, listed, run and looked at from the terminal.

mod execution;
mod find;
mod follow;
mod inputs;
mod names;
mod start;
mod store;

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use protocol::library::LibraryAgent;

pub(super) use self::find::graph_id;
use super::client::{Client, Failure, Server};
use super::terminal::{escaped, note, shortened};
use crate::config::Settings;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the agents of your library, or those of the marketplace.
    List {
        /// Those of the marketplace.
        #[arg(long)]
        store: bool,
        /// Only those that have to do with these words, the best match first.
        #[arg(long, value_name = "WORDS")]
        search: Option<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Run an agent. Ends with 1 when the run failed or was stopped, and with 3 when it waits for a person.
    Run(start::Arguments),
    /// Show a run: what it gave and what its nodes did.
    Show {
        /// The id of the run.
        execution: String,
        #[command(flatten)]
        server: Server,
    },
}

pub(crate) async fn run(settings: &Settings, arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::List { store, search, server } => {
            let client = Client::new(settings, server)?;
            let words = search.as_deref();
            let text = match store {
                true => store::list(&client, words).await.map(|listings| store::table(&listings)),
                false => find::library(&client, words).await.map(|agents| table(&agents, words)),
            };
            say(&client, text)
        }
        Command::Run(arguments) => start::run(settings, arguments).await,
        Command::Show { execution, server } => {
            let client = Client::new(settings, server)?;
            let shown = execution::read(&client, &execution, execution::Nodes::Shown).await;
            say(&client, shown.map(|shown| shown.text()))
        }
    }
}

/// Prints what a server said, or why it did not.
pub(super) fn say(client: &Client, text: Result<String, Failure>) -> anyhow::Result<ExitCode> {
    match text {
        Ok(text) => super::print(escaped(&text).trim_end()),
        Err(failure) => Ok(complain(client, &failure)),
    }
}

pub(super) fn complain(client: &Client, failure: &Failure) -> ExitCode {
    note(&client.explain(failure));
    ExitCode::FAILURE
}

fn table(agents: &[LibraryAgent], words: Option<&str>) -> String {
    if agents.is_empty() {
        let none = match words {
            Some(_) => "There are no such agents in your library.",
            None => "Your library is empty.",
        };
        return format!("{none} To see those of the marketplace: pilothouse agents list --store");
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
    fn an_empty_library_says_where_agents_are() {
        for words in [None, Some("mail")] {
            assert!(table(&[], words).contains("pilothouse agents list --store"));
        }
    }
}
