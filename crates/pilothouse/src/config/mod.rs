//! The configuration: one typed struct, read once at the start and passed down. This folder is the only
//! reader of the environment. The table below is the whole truth about every setting: the parser, the
//! page `docs/configuration.md` and `pilothouse doctor` are derived from it.

mod base_path;
mod check;
mod define;
mod layers;
mod roles;
mod server_url;
mod servers;
mod table;
mod value;

use std::net::IpAddr;
use std::path::PathBuf;

use url::Url;

pub(crate) use base_path::{BasePath, ROUTES};
pub(crate) use check::{Provider, Refusal};
pub(crate) use layers::Layers;
pub(crate) use roles::{Role, Roles};
use server_url::ServerUrl;
pub(crate) use table::markdown;
#[cfg(test)]
pub(crate) use value::Value;
pub(crate) use value::{AuthMode, LogFormat, Millis, ProviderName, Seconds, Secret, Switch};

define::settings! {
    "The server";
    /// Address to listen on. Without a login (`AUTH_MODE=local`) only a loopback address is accepted.
    host: IpAddr = "PILOTHOUSE_HOST", "127.0.0.1";
    /// Port to listen on; 0 takes a free one.
    port: u16 = "PILOTHOUSE_PORT", "8006";
    /// Folder of the workspace files and, without other servers, of the embedded store. All processes of a distributed
    /// installation need the same folder.
    data: PathBuf = "PILOTHOUSE_DATA", "data";
    /// Where this server is reached from outside, when that is not where it listens.
    platform_base_url: Option<Url> = "PLATFORM_BASE_URL", "";
    /// Path that a proxy serves this server below, such as `/pilot`. Everything answers below it and without it, so it
    /// does not matter whether the proxy takes it off.
    base_path: BasePath = "BASE_PATH", "/";
    /// Where the web app is served. Its origin may call the API.
    frontend_base_url: Option<Url> = "FRONTEND_BASE_URL", "";
    /// Further origins that may call the API from a browser, separated by commas.
    cors_origins: Vec<Url> = "CORS_ORIGINS", "";
    /// Connections at the same time; more are answered with 503.
    max_connections: usize = "MAX_CONNECTIONS", "16000";
    /// Connections at the same time from one address; more are answered with 503.
    max_connections_per_ip: usize = "MAX_CONNECTIONS_PER_IP", "2000";
    /// Streams one user may follow at the same time; more are answered with 429.
    max_streams_per_user: usize = "MAX_STREAMS_PER_USER", "1000";
    /// How long the head of a request may take, and how long a kept connection may be idle.
    request_head: Seconds = "REQUEST_HEAD_SECONDS", "10";

    "Postgres, Redis and RabbitMQ";
    /// What this process does: `api` serves clients, `executor` runs turns, `scheduler` finds forgotten ones. On the
    /// embedded store one process does everything.
    roles: Roles = "PILOTHOUSE_ROLES", "api, executor, scheduler";
    /// `postgres://user:password@host:5432/database`, with `?sslmode=require` for TLS. With Postgres, Redis and RabbitMQ
    /// any number of processes work together; without them the embedded store is used.
    database_url: Option<ServerUrl> = "DATABASE_URL", "";
    /// Host of Postgres; together with the four below instead of `DATABASE_URL`.
    db_host: Option<String> = "DB_HOST", "";
    /// Port of Postgres.
    db_port: u16 = "DB_PORT", "5432";
    /// User of Postgres.
    db_user: String = "DB_USER", "postgres";
    /// Password of that user.
    db_pass: Option<Secret> = "DB_PASS", "";
    /// Database in Postgres.
    db_name: String = "DB_NAME", "postgres";
    /// Connections this process keeps to Postgres at most.
    db_connections: usize = "DB_CONNECTIONS", "16";
    /// `redis://:password@host:6379/0`, or `rediss://` for TLS.
    redis_url: Option<ServerUrl> = "REDIS_URL", "";
    /// Host of Redis; together with the two below instead of `REDIS_URL`.
    redis_host: Option<String> = "REDIS_HOST", "";
    /// Port of Redis.
    redis_port: u16 = "REDIS_PORT", "6379";
    /// Password of Redis.
    redis_password: Option<Secret> = "REDIS_PASSWORD", "";
    /// `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS.
    rabbitmq_url: Option<ServerUrl> = "RABBITMQ_URL", "";
    /// Host of RabbitMQ; together with the three below instead of `RABBITMQ_URL`.
    rabbitmq_host: Option<String> = "RABBITMQ_HOST", "";
    /// Port of RabbitMQ.
    rabbitmq_port: u16 = "RABBITMQ_PORT", "5672";
    /// User of RabbitMQ.
    rabbitmq_user: String = "RABBITMQ_DEFAULT_USER", "guest";
    /// Password of that user.
    rabbitmq_pass: Option<Secret> = "RABBITMQ_DEFAULT_PASS", "";
    /// Put before the names of exchanges and queues, so that several installations can share a broker.
    rabbitmq_prefix: String = "RABBITMQ_PREFIX", "";

    "Who may come in";
    /// `local`: everybody who reaches the loopback address is the one local user. `jwt`: a token or an API key is needed.
    auth_mode: AuthMode = "AUTH_MODE", "local";
    /// Secret of HS256 tokens, at least 32 bytes.
    jwt_verify_key: Option<Secret> = "JWT_VERIFY_KEY", "";
    /// Where the public keys of RS256 and ES256 tokens are published.
    jwt_jwks_url: Option<Url> = "JWT_JWKS_URL", "";
    /// The audience a token must name.
    jwt_audience: String = "JWT_AUDIENCE", "authenticated";
    /// The issuer a token must name; any when not set.
    jwt_issuer: Option<String> = "JWT_ISSUER", "";
    /// Whether somebody without a token may create and use anonymous sessions.
    allow_anonymous: Switch = "ALLOW_ANONYMOUS", "off";
    /// Key for `/metrics` and `/api/ops/overview` when a login is needed, for callbacks of other services, and for grants of credits. At least
    /// 32 bytes.
    internal_api_key: Option<Secret> = "CHAT_INTERNAL_API_KEY", "";
    /// Key that secrets at rest are encrypted with. The same one must be given ever after. At least 32 bytes.
    encryption_key: Option<Secret> = "ENCRYPTION_KEY", "";
    /// Token that `pilothouse chat`, `agents`, `import` and `export` show to a server that needs one.
    client_token: Option<Secret> = "PILOTHOUSE_TOKEN", "";

    "The model";
    /// `openai` (and everything that speaks like it), `anthropic` or `offline`. When not set, the keys decide.
    chat_provider: Option<ProviderName> = "CHAT_PROVIDER", "";
    /// Base URL of an OpenAI-compatible server, with its `/v1`.
    chat_base_url: Option<Url> = "CHAT_BASE_URL", "";
    /// Key for that server.
    chat_api_key: Option<Secret> = "CHAT_API_KEY", "";
    /// Taken when `CHAT_API_KEY` is not set.
    openai_api_key: Option<Secret> = "OPENAI_API_KEY", "";
    /// Key for Anthropic.
    anthropic_api_key: Option<Secret> = "ANTHROPIC_API_KEY", "";
    /// Base URL of the Anthropic API.
    anthropic_base_url: Url = "ANTHROPIC_BASE_URL", "https://api.anthropic.com";
    /// The model for the standard tier. Needed with `CHAT_BASE_URL`; otherwise the provider's default.
    chat_model: Option<String> = "CHAT_MODEL", "";
    /// The model for the advanced tier; the standard one when not set.
    chat_advanced_model: Option<String> = "CHAT_ADVANCED_MODEL", "";
    /// The model that writes session titles; the standard one when not set.
    chat_title_model: Option<String> = "CHAT_TITLE_MODEL", "";
    /// Dollars per million input tokens, for the cost of a turn when the provider does not say.
    input_price: Option<f64> = "CHAT_INPUT_PRICE_PER_MTOK", "";
    /// Dollars per million output tokens.
    output_price: Option<f64> = "CHAT_OUTPUT_PRICE_PER_MTOK", "";
    /// The most tokens one answer may have. When not set: what the server allows, and 16384 with Anthropic.
    max_output_tokens: Option<u32> = "CHAT_MAX_OUTPUT_TOKENS", "";
    /// Tokens the model can take, its answer included. A conversation that nears this is folded into a summary.
    context_tokens: u64 = "CHAT_CONTEXT_TOKENS", "128000";
    /// How long a connection to the provider may take.
    provider_connect: Seconds = "CHAT_CONNECT_TIMEOUT_SECONDS", "10";
    /// How long the provider may take to begin its answer.
    provider_first_byte: Seconds = "CHAT_FIRST_BYTE_TIMEOUT_SECONDS", "60";
    /// How long the provider may pause in its answer.
    provider_idle: Seconds = "CHAT_IDLE_TIMEOUT_SECONDS", "60";

    "Turns";
    /// Turns that run at the same time in this process.
    workers: usize = "NUM_COPILOT_WORKERS", "5";
    /// Turns of one user that run or wait for a worker; more of them wait until one ends.
    running_per_user: u32 = "MAX_RUNNING_COPILOT_TURNS_PER_USER", "5";
    /// Turns of one user that were accepted and have not ended; more are answered with 429.
    in_flight_per_user: u32 = "MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "15";
    /// Port for health and metrics of a process that does not serve clients: 8008 when not set, 0 takes a free one. A
    /// process that does has them on its own port, and here too when this is set.
    executor_port: Option<u16> = "COPILOT_EXECUTOR_PORT", "";
    /// How long a worker owns a turn without renewing.
    turn_lease: Millis = "TURN_LEASE_MS", "15000";
    /// How often it renews; less than half the lease.
    turn_renew: Millis = "TURN_RENEW_MS", "5000";
    /// How often forgotten turns are looked for.
    sweep_interval: Millis = "SWEEP_INTERVAL_MS", "2000";
    /// The longest a tool call may hold the step loop. The idle limit of the model's stream is twice this.
    max_tool_wait: Seconds = "CHAT_MAX_TOOL_WAIT_SECONDS", "300";
    /// How long a tool may run unless it says otherwise.
    tool_budget: Seconds = "CHAT_TOOL_BUDGET_SECONDS", "600";
    /// Model calls in one turn; the last one has to answer without tools.
    max_steps: u32 = "CHAT_MAX_STEPS", "100";
    /// Tool calls in one turn.
    max_tool_calls: u32 = "CHAT_MAX_TOOL_CALLS", "500";
    /// Tokens of one turn, input and output together.
    max_tokens: u64 = "CHAT_MAX_TOKENS", "5000000";
    /// Dollars one turn may cost, where the cost is known.
    max_cost: f64 = "CHAT_MAX_COST_DOLLARS", "10";
    /// How long one turn may take.
    max_time: Seconds = "CHAT_MAX_TURN_SECONDS", "21600";

    /// Levels of sub-sessions below a session that a person began.
    tree_depth: u32 = "MAX_SUB_SESSION_DEPTH", "3";
    /// Sub-sessions that one turn may have at work at the same time.
    tree_fan_out: u32 = "MAX_SUB_SESSIONS_PER_TURN", "10";
    /// How long an operation may take until somebody says what it came to.
    operation_time: Seconds = "CHAT_OPERATION_SECONDS", "86400";
    /// A JSON file that describes further tools, which other services carry out.
    tools_file: Option<PathBuf> = "CHAT_TOOLS_FILE", "";

    "Agents";
    /// Whether runs of agents and blocks cost credits. A user without credits then starts nothing.
    credits_enabled: Switch = "CREDITS_ENABLED", "off";
    /// Runs of agents of one user that are worked on at the same time; more of them wait in the queue.
    executions_per_user: u32 = "EXECUTIONS_PER_USER", "25";
    /// Runs of agents that this process works on at the same time.
    execution_slots: usize = "EXECUTION_SLOTS", "50";
    /// How long one run may be worked on.
    execution_max_time: Seconds = "EXECUTION_MAX_TIME", "86400";
    /// How long one node may take each time it runs, unless it waits for other work.
    node_max_time: Seconds = "NODE_MAX_TIME", "1800";
    /// How often nodes may run in one run of an agent, all of them together.
    execution_max_node_runs: u64 = "EXECUTION_MAX_NODE_RUNS", "2000000";

    "Streams";
    /// How long the stream of a finished turn is promised to stay readable.
    stream_ttl: Seconds = "CHAT_STREAM_TTL", "3600";
    /// How long after its end a turn is still replayed to a client that resumes; 0 turns it off.
    replay_window: Seconds = "CHAT_REPLAY_WINDOW_SECONDS", "60";
    /// Silence before a heartbeat is sent.
    heartbeat: Seconds = "CHAT_HEARTBEAT_SECONDS", "10";
    /// How long a client may take no bytes of an answer before its connection is broken.
    write_stall: Seconds = "CHAT_WRITE_STALL_SECONDS", "30";

    "Operations";
    /// `human` or `json`.
    log_format: LogFormat = "LOG_FORMAT", "human";
    /// What is logged, in the syntax of `tracing`: `info`, `debug`, `pilothouse=debug,info`.
    log_filter: String = "RUST_LOG", "info";
    /// For tests: switches off every in-memory wake-up, so that only timers are left.
    deaf: Switch = "PILOTHOUSE_DEAF", "off";
}

impl Settings {
    /// Reads all layers and refuses what is wrong, all of it at once.
    pub(crate) fn load(layers: &Layers) -> Result<Self, Refusal> {
        let settings = Self::parse(layers)?;
        check::refuse_contradictions(&settings, layers)?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
