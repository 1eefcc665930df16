//! The configuration: one typed struct, read once at the start and passed down. Only this folder reads the environment.
//! The table below defines every setting: its name, type, default and rule. The parser, the checks, the page
//! `docs/configuration.md` and `pilothouse doctor` are derived from it.

mod base_path;
mod check;
mod define;
mod generator;
mod layers;
mod own_server;
mod roles;
mod server_url;
mod servers;
mod table;
mod value;

use std::net::IpAddr;
use std::path::PathBuf;

use protocol::secret::SecretText;
use url::Url;

pub(crate) use base_path::{BasePath, ROUTES};
pub(crate) use check::{ConfigRefusal, SelectedProvider};
pub(crate) use generator::SelectedGenerator;
pub(crate) use layers::ConfigLayers;
pub(crate) use own_server::OwnGenerator;
pub(crate) use roles::{ProcessRole, ProcessRoles};
use server_url::ServerUrl;
pub(crate) use table::markdown;
#[cfg(test)]
pub(crate) use value::SettingValue;
pub(crate) use value::{
    AuthMode, DurationMillis, DurationSeconds, LogFormat, ProviderName, Switch,
};

define::settings! {
    "The server";
    /// Address to listen on. Without sign-in (`AUTH_MODE=local`) only a loopback address is accepted.
    host: IpAddr = "PILOTHOUSE_HOST", "127.0.0.1";
    /// Port to listen on; 0 selects a free one.
    port: u16 = "PILOTHOUSE_PORT", "8006";
    /// Folder of the workspace files and of the embedded store. All processes of a distributed installation need the same
    /// folder.
    data: PathBuf = "PILOTHOUSE_DATA", "data";
    /// Public URL of this server, when it differs from the address it listens on.
    platform_base_url: Option<Url> = "PLATFORM_BASE_URL", "";
    /// Path under which a proxy serves this server, such as `/pilot`. All routes work with and without it, so it does not
    /// matter whether the proxy strips it.
    base_path: BasePath = "BASE_PATH", "/";
    /// URL of the web app, if it is served elsewhere. Its origin may call the API.
    frontend_base_url: Option<Url> = "FRONTEND_BASE_URL", "";
    /// Further origins that may call the API from a browser, separated by commas.
    cors_origins: Vec<Url> = "CORS_ORIGINS", "";
    /// Maximum concurrent connections; further ones get 503.
    max_connections: usize = "MAX_CONNECTIONS", "16000", positive;
    /// Maximum concurrent connections from one address; further ones get 503.
    max_connections_per_ip: usize = "MAX_CONNECTIONS_PER_IP", "2000", positive;
    /// Maximum concurrent streams of one user; further ones get 429.
    max_streams_per_user: usize = "MAX_STREAMS_PER_USER", "1000", positive;
    /// Time limit for receiving the head of a request, and for an idle keep-alive connection.
    request_head: DurationSeconds = "REQUEST_HEAD_SECONDS", "10", positive;

    "Postgres, Redis and RabbitMQ";
    /// Roles of this process: `api` serves clients, `executor` runs turns, `scheduler` finds turns that were lost. With the
    /// embedded store one process has all roles.
    roles: ProcessRoles = "PILOTHOUSE_ROLES", "api, executor, scheduler";
    /// `postgres://user:password@host:5432/database`, with `?sslmode=require` for TLS. With Postgres, Redis and RabbitMQ
    /// any number of processes can work together; without them the embedded store is used.
    database_url: Option<ServerUrl> = "DATABASE_URL", "";
    /// Host of Postgres; with the four settings below instead of `DATABASE_URL`.
    db_host: Option<String> = "DB_HOST", "";
    /// Port of Postgres.
    db_port: u16 = "DB_PORT", "5432";
    /// User of Postgres.
    db_user: String = "DB_USER", "postgres";
    /// Password of that user.
    db_pass: Option<SecretText> = "DB_PASS", "";
    /// Database in Postgres.
    db_name: String = "DB_NAME", "postgres";
    /// Maximum connections of this process to Postgres.
    db_connections: usize = "DB_CONNECTIONS", "16", positive;
    /// `redis://:password@host:6379/0`, or `rediss://` for TLS.
    redis_url: Option<ServerUrl> = "REDIS_URL", "";
    /// Host of Redis; with the two settings below instead of `REDIS_URL`.
    redis_host: Option<String> = "REDIS_HOST", "";
    /// Port of Redis.
    redis_port: u16 = "REDIS_PORT", "6379";
    /// Password of Redis.
    redis_password: Option<SecretText> = "REDIS_PASSWORD", "";
    /// `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS.
    rabbitmq_url: Option<ServerUrl> = "RABBITMQ_URL", "";
    /// Host of RabbitMQ; with the three settings below instead of `RABBITMQ_URL`.
    rabbitmq_host: Option<String> = "RABBITMQ_HOST", "";
    /// Port of RabbitMQ.
    rabbitmq_port: u16 = "RABBITMQ_PORT", "5672";
    /// User of RabbitMQ.
    rabbitmq_user: String = "RABBITMQ_DEFAULT_USER", "guest";
    /// Password of that user.
    rabbitmq_pass: Option<SecretText> = "RABBITMQ_DEFAULT_PASS", "";
    /// Prefix of the names of exchanges and queues, so that several installations can share a broker.
    rabbitmq_prefix: String = "RABBITMQ_PREFIX", "";

    "Sign-in and keys";
    /// `local`: no sign-in; everyone on this machine uses the same local account. `jwt`: a token or an API key is required.
    auth_mode: AuthMode = "AUTH_MODE", "local";
    /// Secret of HS256 tokens, at least 32 bytes.
    jwt_verify_key: Option<SecretText> = "JWT_VERIFY_KEY", "", long;
    /// URL of the public keys (JWKS) of RS256 and ES256 tokens.
    jwt_jwks_url: Option<Url> = "JWT_JWKS_URL", "";
    /// The audience that a token must have.
    jwt_audience: String = "JWT_AUDIENCE", "authenticated";
    /// The issuer that a token must have; any when not set.
    jwt_issuer: Option<String> = "JWT_ISSUER", "";
    /// Whether callers without a token may create and use anonymous sessions.
    allow_anonymous: Switch = "ALLOW_ANONYMOUS", "off";
    /// Internal key for `/metrics` and `/api/ops/overview` on a server with sign-in, for callbacks of other services, and for
    /// granting credits. At least 32 bytes.
    internal_api_key: Option<SecretText> = "CHAT_INTERNAL_API_KEY", "", long;
    /// Key for encrypting secrets at rest. It must not change later. At least 32 bytes.
    encryption_key: Option<SecretText> = "ENCRYPTION_KEY", "", long;
    /// Token that `pilothouse chat`, `agents`, `import` and `export` send to a server with sign-in.
    client_token: Option<SecretText> = "PILOTHOUSE_TOKEN", "";

    "The model";
    /// `openai` (and compatible servers), `anthropic` or `offline`. When not set, selected by the configured keys.
    chat_provider: Option<ProviderName> = "CHAT_PROVIDER", "";
    /// Base URL of an OpenAI-compatible server, with its `/v1`.
    chat_base_url: Option<Url> = "CHAT_BASE_URL", "";
    /// Key for that server.
    chat_api_key: Option<SecretText> = "CHAT_API_KEY", "";
    /// Used when `CHAT_API_KEY` is not set.
    openai_api_key: Option<SecretText> = "OPENAI_API_KEY", "";
    /// Key for Anthropic.
    anthropic_api_key: Option<SecretText> = "ANTHROPIC_API_KEY", "";
    /// Base URL of the Anthropic API.
    anthropic_base_url: Url = "ANTHROPIC_BASE_URL", "https://api.anthropic.com";
    /// Model of the standard tier. Required with `CHAT_BASE_URL`; otherwise defaults to the provider's default.
    chat_model: Option<String> = "CHAT_MODEL", "";
    /// Model of the advanced tier; defaults to the standard one.
    chat_advanced_model: Option<String> = "CHAT_ADVANCED_MODEL", "";
    /// Model that writes session titles; defaults to the standard one.
    chat_title_model: Option<String> = "CHAT_TITLE_MODEL", "";
    /// Dollars per million input tokens, for the cost of a turn when the provider does not report it.
    input_price: Option<f64> = "CHAT_INPUT_PRICE_PER_MTOK", "";
    /// Dollars per million output tokens.
    output_price: Option<f64> = "CHAT_OUTPUT_PRICE_PER_MTOK", "";
    /// Maximum tokens of one model response. When not set: the limit of the server, and 16384 with Anthropic.
    max_output_tokens: Option<u32> = "CHAT_MAX_OUTPUT_TOKENS", "", positive;
    /// Context size of the model in tokens, including its response. A session that gets near it is summarized.
    context_tokens: u64 = "CHAT_CONTEXT_TOKENS", "128000", positive;
    /// Time limit for connecting to the provider.
    provider_connect: DurationSeconds = "CHAT_CONNECT_TIMEOUT_SECONDS", "10", positive;
    /// Time limit for the first byte of the provider's response.
    provider_first_byte: DurationSeconds = "CHAT_FIRST_BYTE_TIMEOUT_SECONDS", "60", positive;
    /// Maximum pause in the provider's response.
    provider_idle: DurationSeconds = "CHAT_IDLE_TIMEOUT_SECONDS", "60", positive;

    "Turns";
    /// Turns that this process runs at the same time.
    workers: usize = "NUM_COPILOT_WORKERS", "5", positive;
    /// Turns of one user that run or wait for a worker; further ones wait until one ends.
    running_per_user: u32 = "MAX_RUNNING_COPILOT_TURNS_PER_USER", "5", positive;
    /// Turns of one user that were accepted and have not ended; further ones get 429.
    in_flight_per_user: u32 = "MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "15";
    /// Port for health and metrics of a process that does not serve clients: 8008 when not set, 0 selects a free one. A
    /// process that serves clients has them on its own port, and on this one too when it is set.
    executor_port: Option<u16> = "COPILOT_EXECUTOR_PORT", "";
    /// How long a worker owns a turn without renewing its lease.
    turn_lease: DurationMillis = "TURN_LEASE_MS", "15000";
    /// How often the lease is renewed; less than half the lease.
    turn_renew: DurationMillis = "TURN_RENEW_MS", "5000";
    /// How often lost turns are searched for.
    sweep_interval: DurationMillis = "SWEEP_INTERVAL_MS", "2000", positive;
    /// Maximum time a tool call may block the step loop. The idle limit of the model's stream is twice this.
    max_tool_wait: DurationSeconds = "CHAT_MAX_TOOL_WAIT_SECONDS", "300", positive;
    /// Default time limit of a tool.
    tool_budget: DurationSeconds = "CHAT_TOOL_BUDGET_SECONDS", "600", positive;
    /// Model calls in one turn; the last one has to respond without tools.
    max_steps: u32 = "CHAT_MAX_STEPS", "100", positive;
    /// Tool calls in one turn.
    max_tool_calls: u32 = "CHAT_MAX_TOOL_CALLS", "500";
    /// Tokens of one turn, input and output.
    max_tokens: u64 = "CHAT_MAX_TOKENS", "5000000";
    /// Maximum cost of one turn in dollars, where the cost is known.
    max_cost: f64 = "CHAT_MAX_COST_DOLLARS", "10";
    /// Time limit of one turn.
    max_time: DurationSeconds = "CHAT_MAX_TURN_SECONDS", "21600";

    /// Maximum depth of sub-sessions below a session that a person started.
    tree_depth: u32 = "MAX_SUB_SESSION_DEPTH", "3";
    /// Sub-sessions that one turn may run at the same time.
    tree_fan_out: u32 = "MAX_SUB_SESSIONS_PER_TURN", "10";
    /// Time limit of an operation.
    operation_time: DurationSeconds = "CHAT_OPERATION_SECONDS", "86400";
    /// A JSON file that describes additional tools, which other services carry out.
    tools_file: Option<PathBuf> = "CHAT_TOOLS_FILE", "";

    "Agents";
    /// Whether executions of agents and blocks cost credits. Users without credits cannot start any.
    credits_enabled: Switch = "CREDITS_ENABLED", "off";
    /// Executions of one user that run at the same time; further ones wait in the queue.
    executions_per_user: u32 = "EXECUTIONS_PER_USER", "25", positive;
    /// Executions that this process runs at the same time.
    execution_slots: usize = "EXECUTION_SLOTS", "50", positive;
    /// Time limit of one execution.
    execution_max_time: DurationSeconds = "EXECUTION_MAX_TIME", "86400", positive;
    /// Time limit of one node execution, excluding time it waits for other work.
    node_max_time: DurationSeconds = "NODE_MAX_TIME", "1800", positive;
    /// Maximum node executions in one execution.
    execution_max_node_runs: u64 = "EXECUTION_MAX_NODE_RUNS", "2000000", positive;
    /// Host of an agent generator service, which makes agents from words. When not set, the configured model makes them, and
    /// without a model the offline pilot, for a few kinds of agents.
    generator_host: Option<String> = "AGENTGENERATOR_HOST", "";
    /// Port of that service.
    generator_port: u16 = "AGENTGENERATOR_PORT", "8000";
    /// Time limit for one request to that service, and for one agent that the model makes.
    generator_timeout: DurationSeconds = "AGENTGENERATOR_TIMEOUT", "600", positive;
    /// For tests: a generator with fixed answers.
    generator_use_dummy: Switch = "AGENTGENERATOR_USE_DUMMY", "off";

    "Streams";
    /// How long the stream of a finished turn stays readable.
    stream_ttl: DurationSeconds = "CHAT_STREAM_TTL", "3600";
    /// How long after its end a turn is still replayed to a resuming client; 0 disables it.
    replay_window: DurationSeconds = "CHAT_REPLAY_WINDOW_SECONDS", "60";
    /// Silence after which a heartbeat is sent.
    heartbeat: DurationSeconds = "CHAT_HEARTBEAT_SECONDS", "10", positive;
    /// How long a client may read nothing of a response before its connection is reset.
    write_stall: DurationSeconds = "CHAT_WRITE_STALL_SECONDS", "30", positive;

    "Operations";
    /// `human` or `json`.
    log_format: LogFormat = "LOG_FORMAT", "human";
    /// Log filter in the syntax of `tracing`: `info`, `debug`, `pilothouse=debug,info`.
    log_filter: String = "RUST_LOG", "info";
    /// For tests: disables all in-memory notifications, so that only timers are left.
    deaf: Switch = "PILOTHOUSE_DEAF", "off";
}

impl Settings {
    /// Reads all sources and reports all errors at once.
    pub(crate) fn load(layers: &ConfigLayers) -> Result<Self, ConfigRefusal> {
        let settings = Self::parse(layers)?;
        check::refuse_contradictions(&settings, layers)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
