//! Tests of precedence, refusals with a sentence, masked secrets, and the generated page.

use protocol::limits;

use super::layers::ValueOrigin;
use super::*;

fn load(environment: &[(&str, &str)]) -> Result<Settings, ConfigRefusal> {
    Settings::load(&ConfigLayers::of(vec![(ValueOrigin::Environment, environment)]))
}

#[test]
fn the_environment_wins_over_dotenv_over_dotenv_default_over_the_default() {
    let layers = ConfigLayers::of(vec![
        (ValueOrigin::CommandLine, &[("PILOTHOUSE_PORT", "1")]),
        (
            ValueOrigin::Environment,
            &[("PILOTHOUSE_PORT", "2"), ("NUM_COPILOT_WORKERS", "2"), ("CHAT_MAX_STEPS", "")],
        ),
        (
            ValueOrigin::DotEnv,
            &[("NUM_COPILOT_WORKERS", "3"), ("CHAT_MAX_STEPS", "3"), ("TURN_LEASE_MS", "30000")],
        ),
        (ValueOrigin::DotEnvDefault, &[("TURN_LEASE_MS", "40000"), ("CHAT_STREAM_TTL", "4")]),
    ]);
    let settings = Settings::load(&layers).expect("a good configuration");
    assert_eq!(settings.port, 1);
    assert_eq!(settings.workers, 2);
    assert_eq!(settings.max_steps, 3, "an empty value counts as not set");
    assert_eq!(settings.turn_lease.0.as_millis(), 30_000);
    assert_eq!(settings.stream_ttl.0.as_secs(), 4);
    assert_eq!(settings.heartbeat.0.as_secs(), 10);
    assert_eq!(layers.origin("TURN_LEASE_MS"), ValueOrigin::DotEnv);
    assert_eq!(layers.origin("CHAT_HEARTBEAT_SECONDS"), ValueOrigin::BuiltIn);
}

#[test]
fn every_refusal_names_the_variable() {
    let long = "0123456789abcdef0123456789abcdef";
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[("PILOTHOUSE_PORT", "eighty")], "PILOTHOUSE_PORT"),
        (&[("BASE_PATH", "/api")], "BASE_PATH"),
        (&[("PILOTHOUSE_HOST", "0.0.0.0")], "AUTH_MODE=local"),
        (&[("AUTH_MODE", "jwt")], "JWT_VERIFY_KEY"),
        (&[("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", "short")], "JWT_VERIFY_KEY is too short"),
        (
            &[
                ("AUTH_MODE", "jwt"),
                ("JWT_VERIFY_KEY", "-----BEGIN PUBLIC KEY----- and so on and on"),
            ],
            "JWT_JWKS_URL",
        ),
        (&[("AUTH_MODE", "jwt"), ("JWT_JWKS_URL", "http://keys.example/")], "https://"),
        (&[("AUTH_MODE", "open")], "AUTH_MODE"),
        (&[("ENCRYPTION_KEY", "weak")], "ENCRYPTION_KEY"),
        (&[("CHAT_INTERNAL_API_KEY", "weak")], "CHAT_INTERNAL_API_KEY"),
        (&[("DATABASE_URL", "postgres:nonsense")], "DATABASE_URL (environment) must be a URL"),
        (&[("DB_CONNECTIONS", "0")], "DB_CONNECTIONS"),
        (&[("MAX_RUNNING_COPILOT_TURNS_PER_USER", "16")], "MAX_INFLIGHT_COPILOT_TURNS_PER_USER"),
        (&[("MAX_RUNNING_COPILOT_TURNS_PER_USER", "0")], "must be more than 0"),
        (&[("PILOTHOUSE_ROLES", "api,cook")], "PILOTHOUSE_ROLES"),
        (&[("PILOTHOUSE_ROLES", "api")], "with the embedded store one process has all roles"),
        (&[("TURN_LEASE_MS", "1000")], "TURN_RENEW_MS"),
        (&[("NUM_COPILOT_WORKERS", "0")], "NUM_COPILOT_WORKERS"),
        (&[("EXECUTION_SLOTS", "0")], "EXECUTION_SLOTS"),
        (&[("CREDITS_ENABLED", "perhaps")], "CREDITS_ENABLED"),
        (&[("AGENTGENERATOR_HOST", "http://generator/")], "AGENTGENERATOR_HOST must be"),
        (&[("AGENTGENERATOR_PORT", "70000")], "AGENTGENERATOR_PORT"),
        (&[("AGENTGENERATOR_TIMEOUT", "0")], "AGENTGENERATOR_TIMEOUT"),
        (&[("CHAT_PROVIDER", "anthropic"), ("CHAT_API_KEY", long)], "ANTHROPIC_API_KEY"),
        (&[("CHAT_PROVIDER", "openai")], "CHAT_API_KEY"),
        (&[("CHAT_BASE_URL", "http://127.0.0.1:11434/v1")], "CHAT_MODEL"),
        (&[("CHAT_BASE_URL", "ftp://x")], "CHAT_BASE_URL"),
        (&[("CORS_ORIGINS", "https://a.example, nonsense")], "CORS_ORIGINS"),
        (&[("CHAT_STREAM_TTL", "-1")], "CHAT_STREAM_TTL"),
        (&[("ALLOW_ANONYMOUS", "maybe")], "ALLOW_ANONYMOUS"),
    ];
    for (environment, part) in table {
        let refusal = load(environment).expect_err("refused").to_string();
        assert!(refusal.contains(part), "{environment:?}: {refusal}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let refusal = load(&[("PILOTHOUSE_PORT", "x"), ("CHAT_MAX_STEPS", "y")]).expect_err("refused");
    assert_eq!(refusal.0.len(), 2);
}

#[test]
fn the_configured_keys_select_the_provider() {
    let chosen =
        |environment: &[(&str, &str)]| load(environment).expect("good").provider().expect("one");
    assert_eq!(chosen(&[]), SelectedProvider::Offline);
    assert!(matches!(chosen(&[("OPENAI_API_KEY", "k")]), SelectedProvider::OpenAi { .. }));
    assert!(matches!(chosen(&[("ANTHROPIC_API_KEY", "k")]), SelectedProvider::Anthropic { .. }));
    assert!(matches!(
        chosen(&[("ANTHROPIC_API_KEY", "k"), ("CHAT_API_KEY", "k")]),
        SelectedProvider::OpenAi { .. }
    ));
    assert_eq!(
        chosen(&[("CHAT_PROVIDER", "offline"), ("CHAT_API_KEY", "k")]),
        SelectedProvider::Offline
    );
    assert!(matches!(
        chosen(&[("CHAT_BASE_URL", "http://127.0.0.1:11434/v1"), ("CHAT_MODEL", "llama")]),
        SelectedProvider::OpenAi { api_key: None, .. }
    ));
}

#[test]
fn the_dummy_the_service_and_the_provider_select_the_generator_in_this_order() {
    let key = ("OPENAI_API_KEY", "k");
    let host = ("AGENTGENERATOR_HOST", "Generator");
    let service = |url: &str| SelectedGenerator::Service(url.to_owned());
    let table: &[(&[(&str, &str)], SelectedGenerator)] = &[
        (&[], SelectedGenerator::Offline),
        (&[("CHAT_PROVIDER", "offline"), key], SelectedGenerator::Offline),
        (&[key], SelectedGenerator::Model),
        (&[("ANTHROPIC_API_KEY", "k")], SelectedGenerator::Model),
        (&[host], service("http://generator:8000")),
        (&[host, key, ("AGENTGENERATOR_PORT", "9")], service("http://generator:9")),
        (&[("AGENTGENERATOR_HOST", "::1")], service("http://[::1]:8000")),
        (&[host, key, ("AGENTGENERATOR_USE_DUMMY", "true")], SelectedGenerator::Dummy),
    ];
    for (environment, generator) in table {
        let selected = load(environment).expect("good").generator().expect("one");
        assert_eq!(selected, *generator, "{environment:?}");
    }
}

#[test]
fn secrets_are_never_shown() {
    let canary = "canary-0123456789abcdef0123456789abcdef";
    let secrets = Settings::ALL.iter().filter(|setting| setting.kind == "secret");
    let mut environment: Vec<(&str, &str)> =
        secrets.map(|setting| (setting.name, canary)).collect();
    environment.extend([("DB_HOST", "db"), ("REDIS_HOST", "redis"), ("RABBITMQ_HOST", "mq")]);
    let settings = load(&environment).expect("good");
    assert!(!format!("{settings:?}").contains("canary"));
    assert!(settings.shown().iter().all(|(_, value)| !value.contains("canary")));
    let servers = settings.servers().expect("all three");
    assert!(servers.postgres.expose().contains("canary"), "it is available for connecting");
    assert!(!format!("{servers:?}").contains("canary"));
}

#[test]
fn misspelled_names_are_reported() {
    let layers = ConfigLayers::of(vec![(
        ValueOrigin::DotEnv,
        &[("CHAT_MODELL", "x"), ("CHAT_MODEL", "y"), ("OTHER", "z")],
    )]);
    assert_eq!(layers.unknown(), ["CHAT_MODELL"]);
}

#[test]
fn the_configuration_page_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let written = std::fs::read_to_string(page).expect("docs/configuration.md is there");
    assert_eq!(written, markdown(), "run `cargo run -- configuration > docs/configuration.md`");
}

#[test]
fn the_defaults_match_the_shared_limits() {
    let settings = load(&[]).expect("the defaults are good");
    assert_eq!(settings.heartbeat.0, limits::HEARTBEAT);
    assert_eq!(settings.write_stall.0, limits::WRITE_STALL);
    assert_eq!(settings.max_tool_wait.0, limits::MAX_TOOL_WAIT);
    assert_eq!(settings.tool_budget.0, limits::TOOL_BUDGET);
    assert_eq!(settings.running_per_user, limits::UserLimits::default().running);
    assert_eq!(settings.in_flight_per_user, limits::UserLimits::default().in_flight);
    assert_eq!(settings.executions_per_user, limits::UserLimits::default().executions);
    assert_eq!(settings.execution_max_time.0, limits::EXECUTION_TIME);
    assert_eq!(settings.node_max_time.0, limits::NODE_TIME);
    assert_eq!(settings.execution_max_node_runs, limits::NODE_RUNS);
}

/// All three servers with different URL forms.
const DISTRIBUTED: [(&str, &str); 3] = [
    ("DATABASE_URL", "postgres://anna:pa%40ss@db.example:5433/chats?sslmode=require"),
    ("REDIS_URL", "rediss://:hush@cache.example/2"),
    ("RABBITMQ_URL", "amqp://anna:hush@mq.example/%2f"),
];

#[test]
fn three_servers_are_a_distributed_installation_and_none_an_embedded_one() {
    assert_eq!(load(&[]).expect("good").servers(), None);
    let servers = load(&DISTRIBUTED).expect("good").servers().expect("all three");
    assert_eq!(servers.postgres.expose(), DISTRIBUTED[0].1, "as it was given");
    assert_eq!(servers.postgres.host_and_path(), "db.example:5433/chats");
    assert_eq!(servers.redis.host_and_path(), "cache.example/2");
    let roles = [DISTRIBUTED.as_slice(), &[("PILOTHOUSE_ROLES", "scheduler, executor")]].concat();
    let roles = load(&roles).expect("good").roles;
    assert!(
        roles.has(ProcessRole::Executor)
            && roles.has(ProcessRole::Scheduler)
            && !roles.has(ProcessRole::Api)
    );
}

#[test]
fn an_incomplete_set_of_servers_is_refused_and_the_missing_ones_are_named() {
    for count in 1..3 {
        let refusal = load(&DISTRIBUTED[..count]).expect_err("refused").to_string();
        assert!(
            refusal.contains("DATABASE_URL is set")
                || refusal.contains("DATABASE_URL, REDIS_URL is set")
        );
        assert_eq!(refusal.contains("REDIS_URL (or REDIS_HOST)"), count < 2, "{refusal}");
        assert!(refusal.contains("RABBITMQ_URL (or RABBITMQ_HOST)"), "{refusal}");
    }
    let alone = load(&[("DB_PASS", "hush")]).expect_err("refused").to_string();
    assert!(alone.contains("DB_PASS is set, but DATABASE_URL (or DB_HOST)"), "{alone}");
    let mut wrong = DISTRIBUTED;
    wrong[1].1 = "amqp://mq.example/";
    let wrong = load(&wrong).expect_err("refused").to_string();
    assert!(wrong.contains("REDIS_URL must start with redis://"), "{wrong}");
}

#[test]
fn the_parts_of_a_server_url_are_escaped() {
    let settings = load(&[
        ("DB_HOST", "db"),
        ("DB_USER", "an na"),
        ("DB_PASS", "p@s:s/w%41#?"),
        ("DB_NAME", "my/chats"),
        ("REDIS_HOST", "::1"),
        ("REDIS_PASSWORD", "%"),
        ("RABBITMQ_HOST", "mq"),
        ("RABBITMQ_PORT", "5673"),
    ])
    .expect("good");
    let servers = settings.servers().expect("all three");
    let url = servers.postgres.expose();
    assert_eq!(url, "postgres://an%20na:p%40s%3As%2Fw%2541%23%3F@db:5432/my%2Fchats");
    assert_eq!(servers.redis.expose(), "redis://:%25@[::1]:6379/0");
    assert_eq!(servers.rabbitmq.expose(), "amqp://guest@mq:5673/%2F");
    let sly = [("DB_HOST", "db/x@y"), ("REDIS_HOST", "r"), ("RABBITMQ_HOST", "m")];
    assert!(load(&sly).expect_err("refused").to_string().contains("DB_HOST must be"));
}

#[test]
fn a_server_url_is_shown_without_its_password() {
    let mut environment = DISTRIBUTED;
    environment[0].1 = "postgres://anna:hush@db/chats?password=hush#hush";
    let settings = load(&environment).expect("good");
    let shown = format!("{:?} {settings:?}", settings.shown());
    assert!(!shown.contains("hush") && shown.contains("postgres://anna:***@db/chats"), "{shown}");
}

#[test]
fn the_deployment_files_only_set_known_settings() {
    // Variables of compose itself and of the Postgres image.
    let foreign = ["PUBLISH", "POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/");
    let read =
        |file: &str| std::fs::read_to_string(format!("{folder}{file}")).expect("it is there");
    let (compose, example) = (read("compose.yaml"), read("env.example"));
    let set = compose.lines().filter_map(|line| line.trim().split_once(": ")).map(|(name, _)| name);
    let used = compose.split("${").skip(1).filter_map(|rest| rest.split([':', '}']).next());
    let shown = example.lines().filter_map(|line| line.trim_start_matches('#').split_once('='));
    let names = set.chain(used).chain(shown.map(|(name, _)| name));
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let mut count = 0;
    for name in names.filter(|name| is_name(name) && !foreign.contains(name)) {
        assert!(Settings::ALL.iter().any(|setting| setting.name == name), "{name}");
        count += 1;
    }
    assert!(count > 80, "the names are found: {count}");
}
