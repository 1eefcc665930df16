//! Builds the program from its settings: the one place that knows every part.

mod agents;
mod doors;
pub(crate) mod external_tools;
mod model;
pub(crate) mod store;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use backends::{Backend, Connected};
use engine::Engine;
use ports::{Block, Ports};
use protocol::limits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolbox::egress;
use toolbox::sandbox::Sandbox;
use toolbox::tools::docs::UserGuide;
use toolbox::tools::{self, ToolServices};

pub(crate) use self::model::{describe, provider};
use crate::config::{Role, Settings, Switch};
use crate::http::{self, AppState, ModelInfo};

/// For answers that are under way when everything else has stopped.
const CLOSE_PATIENCE: Duration = Duration::from_millis(500);

/// The running program.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) model: ModelInfo,
    pub(crate) shell: Shell,
    /// What keeps the services of long-running tools from calling back.
    pub(crate) cannot_call_back: Option<&'static str>,
    app: Arc<AppState>,
    engine: Engine,
    doors: doors::Open,
    backend: Backend,
    chores: TaskTracker,
    chores_end: CancellationToken,
}

/// Whether turns of this process can run commands.
pub(crate) enum Shell {
    Sandboxed,
    /// Why there is none.
    Off(String),
    /// No turn runs here.
    Elsewhere,
}

pub(crate) async fn start(settings: &Settings) -> anyhow::Result<Running> {
    // The ports first: a second server on them must not touch the store of the first.
    let doors = doors::Closed::take(settings).await?;
    let address = doors.address()?;
    let metrics = http::metrics::install()?;
    let Connected { ports, backend } = store::connect(settings).await?;
    let provider = provider(settings)?;
    let (sandbox, shell) = shell(settings).await;
    let egress = egress::EgressClient::new(egress::EgressOptions::default())
        .context("the client for foreign addresses could not be set up")?;
    let blocks = agents::blocks(&ports, provider.clone(), egress.clone());
    agents::list_examples(&ports).await?;
    let services = services(settings, &ports, sandbox, address, egress, &blocks)?;
    let cannot_call_back = external_tools::cannot_call_back(settings, &services.external);
    let tools = tools::all(&services).map_err(anyhow::Error::msg)?;
    let model = describe(&*provider);
    let engine = Engine::new(ports.clone(), provider, tools, blocks, engine_options(settings));
    let app = AppState::new(settings, engine.clone(), ports, model.clone(), metrics.clone())?;
    engine.start(roles(settings));
    let chores = TaskTracker::new();
    let chores_end = CancellationToken::new();
    chores.spawn(chores_end.clone().run_until_cancelled_owned(http::metrics::run_upkeep(metrics)));
    let doors = doors.open(&app, settings);
    Ok(Running {
        address,
        model,
        shell,
        cannot_call_back,
        app,
        engine,
        doors,
        backend,
        chores,
        chores_end,
    })
}

impl Running {
    /// In the order in which nothing is lost: no new work, turns ended or handed back, streams broken so that their
    /// clients come back, then the store.
    pub(crate) async fn shut_down(self) -> anyhow::Result<()> {
        self.doors.stop_accepting_clients();
        self.engine.shutdown().await;
        self.app.streams_end.cancel();
        self.doors.close(CLOSE_PATIENCE).await;
        self.chores_end.cancel();
        self.chores.close();
        self.chores.wait().await;
        self.backend.close().await.context("the store could not be closed")
    }
}

fn roles(settings: &Settings) -> engine::EngineRoles {
    let work = settings.roles.has(Role::Executor);
    // Whoever runs turns also looks for forgotten ones, so that an installation without a scheduler is whole.
    engine::EngineRoles { work, sweep: work || settings.roles.has(Role::Scheduler) }
}

async fn shell(settings: &Settings) -> (Option<Sandbox>, Shell) {
    if !settings.roles.has(Role::Executor) {
        return (None, Shell::Elsewhere);
    }
    match Sandbox::detect().await {
        Ok(sandbox) => (Some(sandbox), Shell::Sandboxed),
        Err(reason) => (None, Shell::Off(reason)),
    }
}

fn services(
    settings: &Settings,
    ports: &Ports,
    sandbox: Option<Sandbox>,
    address: SocketAddr,
    egress: egress::EgressClient,
    blocks: &[Arc<dyn Block>],
) -> anyhow::Result<ToolServices> {
    let configured = settings.platform_base_url.as_ref().map(ToString::to_string);
    // A process that does not serve clients takes no results either, so its own address would lead nowhere.
    let here = settings.roles.has(Role::Api).then(|| format!("http://{address}"));
    Ok(ToolServices {
        files: ports.files.clone(),
        egress,
        sandbox,
        docs: UserGuide::bundled(),
        external: external_tools::load(settings)?,
        library: ports.library.clone(),
        listings: ports.listings.clone(),
        reviews: ports.reviews.clone(),
        blocks: blocks.into(),
        clock: ports.clock.clone(),
        max_wait: settings.max_tool_wait.0,
        callback_base: configured.or(here),
    })
}

/// The machine and the process on it, for people who see who works on what. A slash ends the name elsewhere.
fn process_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = Some(host.trim()).filter(|host| !host.is_empty()).unwrap_or("pilothouse");
    format!("{}-{}", host.replace('/', "-"), std::process::id())
}

fn engine_options(settings: &Settings) -> engine::EngineOptions {
    engine::EngineOptions {
        process: process_name(),
        workers: settings.workers,
        lease: settings.turn_lease.0,
        renew: settings.turn_renew.0,
        sweep: settings.sweep_interval.0,
        max_tool_wait: settings.max_tool_wait.0,
        tool_budget: settings.tool_budget.0,
        max_steps: settings.max_steps,
        max_tool_calls: settings.max_tool_calls,
        max_tokens: settings.max_tokens,
        max_cost_microdollars: (settings.max_cost * 1_000_000.0).round() as u64,
        max_time: settings.max_time.0,
        shutdown: limits::SHUTDOWN,
        tree: limits::DelegationLimits {
            depth: settings.tree_depth,
            fan_out: settings.tree_fan_out,
        },
        operation_time: settings.operation_time.0,
        executions: settings.execution_slots,
        execution_time: settings.execution_max_time.0,
        node_time: settings.node_max_time.0,
        node_runs: settings.execution_max_node_runs,
        credits: settings.credits_enabled == Switch::On,
        ..engine::EngineOptions::default()
    }
}
