//! Builds the program from its settings: the only place that knows every part.

mod agents;
pub(crate) mod external_tools;
pub(crate) mod generator;
mod listeners;
mod model;
pub(crate) mod store;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use backends::{BackendHandle, ConnectedBackend};
use engine::{BlockCatalog, Engine};
use ports::{AgentGenerator, Block, Ports};
use protocol::limits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolbox::egress;
use toolbox::sandbox::Sandbox;
use toolbox::tools::docs::UserGuide;
use toolbox::tools::{self, ToolServices};

use self::listeners::{BoundListeners, RunningListeners};
pub(crate) use self::model::{describe, provider};
use crate::config::{ProcessRole, Settings, Switch};
use crate::http::{self, AppState, ModelInfo, ToolList};

/// Grace period for responses in progress after everything else has stopped.
const CLOSE_GRACE: Duration = Duration::from_millis(500);

/// The running program.
pub(crate) struct RunningServer {
    pub(crate) address: SocketAddr,
    pub(crate) model: ModelInfo,
    pub(crate) shell: ShellStatus,
    /// What keeps the services of long-running tools from reporting results.
    pub(crate) callback_problem: Option<&'static str>,
    app: Arc<AppState>,
    engine: Engine,
    listeners: RunningListeners,
    backend: BackendHandle,
    background_tasks: TaskTracker,
    background_stop: CancellationToken,
}

/// Whether turns of this process can run shell commands.
pub(crate) enum ShellStatus {
    Sandboxed,
    /// Why there is no shell.
    Off(String),
    /// This process does not run turns.
    Elsewhere,
}

pub(crate) async fn start(settings: &Settings) -> anyhow::Result<RunningServer> {
    // Bind the ports first: a second server must not touch the store of the first one.
    let bound = BoundListeners::bind(settings).await?;
    let address = bound.address()?;
    let metrics = http::metrics::install()?;
    let ConnectedBackend { ports, backend } = store::connect(settings).await?;
    let provider = provider(settings)?;
    let (sandbox, shell) = shell(settings).await;
    let egress = egress::EgressClient::new(egress::EgressOptions::default())
        .context("could not create the HTTP client for external requests")?;
    let blocks = agents::blocks(&ports, provider.clone(), egress.clone());
    agents::list_examples(&ports).await?;
    let generator = generator::connect(settings, provider.clone(), &blocks)?;
    let services = services(settings, &ports, sandbox, address, egress, &blocks, generator)?;
    let callback_problem = external_tools::callback_problem(settings, &services.external);
    let tools = tools::all(&services).map_err(anyhow::Error::msg)?;
    let tool_list = ToolList::new(&tools)?;
    let model = describe(&*provider);
    let engine = Engine::new(ports.clone(), provider, tools, blocks, engine_options(settings));
    let app =
        AppState::new(settings, engine.clone(), ports, model.clone(), tool_list, metrics.clone())?;
    engine.start(roles(settings));
    let background_tasks = TaskTracker::new();
    let background_stop = CancellationToken::new();
    background_tasks.spawn(
        background_stop.clone().run_until_cancelled_owned(http::metrics::run_upkeep(metrics)),
    );
    let listeners = bound.serve(&app, settings);
    Ok(RunningServer {
        address,
        model,
        shell,
        callback_problem,
        app,
        engine,
        listeners,
        backend,
        background_tasks,
        background_stop,
    })
}

impl RunningServer {
    pub(crate) fn block_catalog(&self) -> &BlockCatalog {
        self.engine.blocks()
    }

    pub(crate) fn blocks(&self) -> Vec<Arc<dyn Block>> {
        self.engine.blocks().iter().cloned().collect()
    }

    /// Shuts down in an order that loses nothing: stop accepting work, finish or hand over turns, abort streams so that
    /// clients reconnect elsewhere, then close the store.
    pub(crate) async fn shut_down(self) -> anyhow::Result<()> {
        self.listeners.stop_accepting_clients();
        self.engine.shutdown().await;
        self.app.streams_end.cancel();
        self.listeners.close(CLOSE_GRACE).await;
        self.background_stop.cancel();
        self.background_tasks.close();
        self.background_tasks.wait().await;
        self.backend.close().await.context("could not close the store")
    }
}

fn roles(settings: &Settings) -> engine::EngineRoles {
    let work = settings.roles.has(ProcessRole::Executor);
    // Every worker process also searches for lost turns, so that an installation without a scheduler is complete.
    engine::EngineRoles { work, sweep: work || settings.roles.has(ProcessRole::Scheduler) }
}

async fn shell(settings: &Settings) -> (Option<Sandbox>, ShellStatus) {
    if !settings.roles.has(ProcessRole::Executor) {
        return (None, ShellStatus::Elsewhere);
    }
    match Sandbox::detect().await {
        Ok(sandbox) => (Some(sandbox), ShellStatus::Sandboxed),
        Err(reason) => (None, ShellStatus::Off(reason)),
    }
}

fn services(
    settings: &Settings,
    ports: &Ports,
    sandbox: Option<Sandbox>,
    address: SocketAddr,
    egress: egress::EgressClient,
    blocks: &[Arc<dyn Block>],
    generator: Arc<dyn AgentGenerator>,
) -> anyhow::Result<ToolServices> {
    let configured = settings.platform_base_url.as_ref().map(ToString::to_string);
    // A process that does not serve clients cannot receive results, so its own address is useless as a callback.
    let own_url = settings.roles.has(ProcessRole::Api).then(|| format!("http://{address}"));
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
        generator,
        clock: ports.clock.clone(),
        max_wait: settings.max_tool_wait.0,
        callback_base: configured.or(own_url),
    })
}

/// The host and process id, shown to operators. Slashes separate the parts of worker ids, so they are replaced.
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
