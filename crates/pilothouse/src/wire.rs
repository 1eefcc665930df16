//! Builds the program from its settings: the one place that knows every part.

use std::sync::Arc;

use anyhow::Context;
use backends::{Backend, Connected};
use engine::Engine;
use ports::{ModelProvider, Ports};
use protocol::limits;
use protocol::turn::Tier;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolbox::egress;
use toolbox::providers::{AnthropicOptions, OpenAiOptions, Prices, ProviderOptions, Timeouts};
use toolbox::sandbox::Sandbox;
use toolbox::tools::docs::Library;
use toolbox::tools::{self, Services};

use crate::config::{Provider, Settings, Switch};
use crate::http::{self, App, Model, accept};

/// Used when the settings name no model.
const OPENAI_MODEL: &str = "gpt-5-mini";
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";
/// Anthropic wants a number.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 16_384;
/// For answers that are under way when everything else has stopped.
const CLOSE_PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

/// The running program.
pub(crate) struct Running {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) model: Model,
    /// Why there is no shell, if there is none.
    pub(crate) no_sandbox: Option<String>,
    app: Arc<App>,
    engine: Engine,
    server: accept::Server,
    executor_server: Option<accept::Server>,
    backend: Backend,
    chores: TaskTracker,
    chores_end: CancellationToken,
}

pub(crate) async fn start(settings: &Settings) -> anyhow::Result<Running> {
    // The port first: a second server on it must not touch the store of the first.
    let listener = listen(settings, settings.port, "--port").await?;
    let executor_listener = match settings.executor_port {
        Some(port) => Some(listen(settings, port, "COPILOT_EXECUTOR_PORT").await?),
        None => None,
    };
    let address = listener.local_addr().context("a listening socket has an address")?;
    let metrics = http::metrics::install()?;
    let Connected { ports, backend } = connect(settings).await?;
    let provider = provider(settings)?;
    let (sandbox, no_sandbox) = match Sandbox::detect().await {
        Ok(sandbox) => (Some(sandbox), None),
        Err(reason) => (None, Some(reason)),
    };
    let tools = tools::all(&services(&ports, sandbox)?);
    let model = describe(&*provider);
    let engine = Engine::new(ports.clone(), provider, tools, engine_options(settings));
    let app = App::new(settings, engine.clone(), ports, model.clone(), metrics.clone())?;
    engine.start(engine::Roles::ALL);
    let chores = TaskTracker::new();
    let chores_end = CancellationToken::new();
    chores.spawn(chores_end.clone().run_until_cancelled_owned(http::metrics::keep_up(metrics)));
    let service = accept::Service {
        router: http::router(&app),
        busy: http::busy_router(&app),
        connections: app.connections.clone(),
        patience: accept::Patience { head: settings.request_head.0, write: settings.write_stall.0 },
    };
    let executor_server = executor_listener.map(|listener| {
        let router = http::executor_router(&app);
        accept::Server::start(listener, accept::Service { router, ..service.clone() })
    });
    let server = accept::Server::start(listener, service);
    Ok(Running {
        address,
        model,
        no_sandbox,
        app,
        engine,
        server,
        executor_server,
        backend,
        chores,
        chores_end,
    })
}

async fn listen(settings: &Settings, port: u16, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind((settings.host, port)).await.with_context(|| {
        format!("The server cannot listen on {} port {port}. Is another one running? Choose another port with {setting}.", settings.host)
    })
}

impl Running {
    /// In the order in which nothing is lost: no new work, turns ended or handed back, streams broken so that their
    /// clients come back, then the store.
    pub(crate) async fn shut_down(self) -> anyhow::Result<()> {
        self.server.stop_accepting();
        self.engine.shutdown().await;
        self.app.streams_end.cancel();
        self.server.close(CLOSE_PATIENCE).await;
        if let Some(server) = self.executor_server {
            server.close(CLOSE_PATIENCE).await;
        }
        self.chores_end.cancel();
        self.chores.close();
        self.chores.wait().await;
        self.backend.close().await.context("the store could not be closed")
    }
}

pub(crate) async fn connect(settings: &Settings) -> anyhow::Result<Connected> {
    let mut options = backends::Options::embedded(settings.data.clone());
    options.encryption_key = settings.encryption_key.as_ref().map(|key| key.expose().to_owned());
    options.deaf = settings.deaf == Switch::On;
    Ok(backends::connect(&options).await?)
}

/// Sends nothing yet.
pub(crate) fn provider(settings: &Settings) -> anyhow::Result<Arc<dyn ModelProvider>> {
    let provider = settings.provider().map_err(anyhow::Error::msg)?;
    Ok(toolbox::providers::connect(&provider_options(settings, provider))?)
}

pub(crate) fn describe(provider: &dyn ModelProvider) -> Model {
    Model { provider: provider.name().to_owned(), name: provider.model(Tier::Standard).to_owned() }
}

fn provider_options(settings: &Settings, provider: Provider) -> ProviderOptions {
    let named = |default: &str| settings.chat_model.clone().unwrap_or_else(|| default.to_owned());
    let or =
        |choice: &Option<String>, model: &str| choice.clone().unwrap_or_else(|| model.to_owned());
    let timeouts = Timeouts {
        connect: settings.provider_connect.0,
        first_byte: settings.provider_first_byte.0,
        idle: settings.provider_idle.0,
    };
    let prices =
        Prices { input_per_mtok: settings.input_price, output_per_mtok: settings.output_price };
    match provider {
        Provider::Offline => ProviderOptions::Offline,
        Provider::OpenAi { base_url, api_key } => {
            let model = named(OPENAI_MODEL);
            ProviderOptions::OpenAi(OpenAiOptions {
                base_url: base_url.to_string(),
                api_key: api_key.map(|key| key.expose().to_owned()),
                advanced_model: or(&settings.chat_advanced_model, &model),
                title_model: or(&settings.chat_title_model, &model),
                model,
                timeouts,
                prices,
                max_output_tokens: settings.max_output_tokens,
            })
        }
        Provider::Anthropic { api_key } => {
            let model = named(ANTHROPIC_MODEL);
            ProviderOptions::Anthropic(AnthropicOptions {
                base_url: settings.anthropic_base_url.to_string(),
                api_key: api_key.expose().to_owned(),
                advanced_model: or(&settings.chat_advanced_model, &model),
                title_model: or(&settings.chat_title_model, &model),
                model,
                timeouts,
                prices,
                max_output_tokens: settings.max_output_tokens.unwrap_or(ANTHROPIC_OUTPUT_TOKENS),
            })
        }
    }
}

fn services(ports: &Ports, sandbox: Option<Sandbox>) -> anyhow::Result<Services> {
    let egress = egress::Client::new(egress::Options::default())
        .context("the client for foreign addresses could not be set up")?;
    Ok(Services { files: ports.files.clone(), egress, sandbox, docs: Library::guide() })
}

fn engine_options(settings: &Settings) -> engine::Options {
    engine::Options {
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
        ..engine::Options::default()
    }
}
