//! `pilothouse eval`: lets the generator make the agents of a folder of tasks, and counts how many are right. The agents go
//! through the real stages, on a server that this command starts for itself and that forgets everything.

mod attempt;
mod comparison;
mod eval_task;
mod metered_provider;
mod scoreboard;
mod scratch_folder;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use url::Url;

use self::attempt::Workbench;
use self::eval_task::EvalTask;
use self::metered_provider::MeteredProvider;
use self::scoreboard::{Scoreboard, TaskScore};
use self::scratch_folder::ScratchFolder;
use super::client::{ApiClient, ServerFlags};
use super::terminal::{escaped, note};
use crate::config::{OwnGenerator, SelectedGenerator, Settings};
use crate::wire;

/// How long a rehearsal may take.
const REHEARSAL_TIME: Duration = Duration::from_secs(60);
/// Below the shutdown time of a server, because nothing of this one is worth waiting for.
const CLOSE_TIME: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct EvalArguments {
    /// A folder of tasks, a YAML or JSON file each, or one such file
    #[arg(value_name = "DIR")]
    tasks: PathBuf,
    /// Use the configured generator: the service, or the model, which may cost money. Otherwise the offline generator
    #[arg(long)]
    live: bool,
    /// How often each task is tried. It passes at k if one of k attempts passes
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
    /// Print the spec of each agent that does not pass
    #[arg(long)]
    show_specs: bool,
}

pub(crate) async fn run(settings: &Settings, arguments: EvalArguments) -> anyhow::Result<ExitCode> {
    let tasks = eval_task::load(&arguments.tasks)?;
    let generator = if arguments.live { OwnGenerator::Configured } else { OwnGenerator::Offline };
    let folder = ScratchFolder::create()?;
    let own = settings.for_own_server(folder.path().to_owned(), generator);
    note(&described(&own, arguments.live)?);
    let server = wire::start(&own).await.context("could not start a server for the tasks")?;
    let provider = MeteredProvider::new(wire::provider(&own)?);
    let flags = ServerFlags::at(Url::parse(&format!("http://{}", server.address))?);
    let bench = Workbench {
        generator: wire::generator::connect(&own, provider.clone(), &server.blocks())?,
        client: ApiClient::for_long_requests(&own, flags, REHEARSAL_TIME)?,
        blocks: server.block_catalog().clone(),
    };
    let code = tokio::select! {
        code = evaluate(&bench, &provider, &tasks, &arguments) => code,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted.context("could not listen for an interrupt")?;
            Ok(ExitCode::FAILURE)
        }
    };
    if tokio::time::timeout(CLOSE_TIME, server.shut_down()).await.is_err() {
        note("The server did not stop in time.");
    }
    code
}

async fn evaluate(
    bench: &Workbench,
    provider: &MeteredProvider,
    tasks: &[EvalTask],
    arguments: &EvalArguments,
) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let mut scoreboard = Scoreboard::new(arguments.attempts);
    for task in tasks {
        let mut score = TaskScore::new(&task.name);
        for _ in 0..arguments.attempts {
            let began = Instant::now();
            let result = bench.attempt(task).await;
            if arguments.show_specs
                && let Err(failure) = &result
                && let Some(spec) = &failure.spec
            {
                note(spec);
            }
            score.add(result, began.elapsed());
        }
        super::print(escaped(&score.text()).trim_end())?;
        scoreboard.add(score);
    }
    super::print(&scoreboard.summary(provider.usage(), started.elapsed()))?;
    Ok(if scoreboard.all_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Which generator is evaluated.
fn described(own: &Settings, live: bool) -> anyhow::Result<String> {
    Ok(match own.generator().map_err(anyhow::Error::msg)? {
        SelectedGenerator::Dummy => "Generator: the dummy.".to_owned(),
        SelectedGenerator::Service(url) => format!("Generator: the service at {url}."),
        SelectedGenerator::Model => {
            let model = wire::describe(&*wire::provider(own)?);
            format!("Generator: {} ({}).", model.name, model.provider)
        }
        SelectedGenerator::Offline if live => "Generator: offline, because neither a model nor a generator service is \
             configured. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, CHAT_BASE_URL and CHAT_MODEL, or AGENTGENERATOR_HOST."
            .to_owned(),
        SelectedGenerator::Offline => {
            "Generator: offline. --live uses the configured model or service.".to_owned()
        }
    })
}
