//! What the configuration promises: precedence, refusals with a sentence, masked secrets, a fresh page.

use protocol::limits;

use super::layers::Origin;
use super::*;

fn load(environment: &[(&str, &str)]) -> Result<Settings, Refusal> {
    Settings::load(&Layers::of(vec![(Origin::Environment, environment)]))
}

#[test]
fn the_environment_wins_over_dotenv_over_dotenv_default_over_the_default() {
    let layers = Layers::of(vec![
        (Origin::CommandLine, &[("PILOTHOUSE_PORT", "1")]),
        (
            Origin::Environment,
            &[("PILOTHOUSE_PORT", "2"), ("NUM_COPILOT_WORKERS", "2"), ("CHAT_MAX_STEPS", "")],
        ),
        (
            Origin::DotEnv,
            &[("NUM_COPILOT_WORKERS", "3"), ("CHAT_MAX_STEPS", "3"), ("TURN_LEASE_MS", "30000")],
        ),
        (Origin::DotEnvDefault, &[("TURN_LEASE_MS", "40000"), ("CHAT_STREAM_TTL", "4")]),
    ]);
    let settings = Settings::load(&layers).expect("a good configuration");
    assert_eq!(settings.port, 1);
    assert_eq!(settings.workers, 2);
    assert_eq!(settings.max_steps, 3, "an empty value counts as not set");
    assert_eq!(settings.turn_lease.0.as_millis(), 30_000);
    assert_eq!(settings.stream_ttl.0.as_secs(), 4);
    assert_eq!(settings.heartbeat.0.as_secs(), 10);
    assert_eq!(layers.origin("TURN_LEASE_MS"), Origin::DotEnv);
    assert_eq!(layers.origin("CHAT_HEARTBEAT_SECONDS"), Origin::BuiltIn);
}

#[test]
fn every_refusal_names_the_variable() {
    let long = "0123456789abcdef0123456789abcdef";
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[("PILOTHOUSE_PORT", "eighty")], "PILOTHOUSE_PORT"),
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
        (&[("DATABASE_URL", "postgres://x")], "DATABASE_URL"),
        (&[("REDIS_URL", "redis://x")], "REDIS_URL"),
        (&[("RABBITMQ_URL", "amqp://x")], "RABBITMQ_URL"),
        (&[("TURN_LEASE_MS", "1000")], "TURN_RENEW_MS"),
        (&[("NUM_COPILOT_WORKERS", "0")], "NUM_COPILOT_WORKERS"),
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
fn all_mistakes_are_told_at_once() {
    let refusal = load(&[("PILOTHOUSE_PORT", "x"), ("CHAT_MAX_STEPS", "y")]).expect_err("refused");
    assert_eq!(refusal.0.len(), 2);
}

#[test]
fn the_provider_follows_the_keys() {
    let chosen =
        |environment: &[(&str, &str)]| load(environment).expect("good").provider().expect("one");
    assert_eq!(chosen(&[]), Provider::Offline);
    assert!(matches!(chosen(&[("OPENAI_API_KEY", "k")]), Provider::OpenAi { .. }));
    assert!(matches!(chosen(&[("ANTHROPIC_API_KEY", "k")]), Provider::Anthropic { .. }));
    assert!(matches!(
        chosen(&[("ANTHROPIC_API_KEY", "k"), ("CHAT_API_KEY", "k")]),
        Provider::OpenAi { .. }
    ));
    assert_eq!(chosen(&[("CHAT_PROVIDER", "offline"), ("CHAT_API_KEY", "k")]), Provider::Offline);
    assert!(matches!(
        chosen(&[("CHAT_BASE_URL", "http://127.0.0.1:11434/v1"), ("CHAT_MODEL", "llama")]),
        Provider::OpenAi { api_key: None, .. }
    ));
}

#[test]
fn secrets_are_never_shown() {
    let canary = "canary-0123456789abcdef0123456789abcdef";
    let secrets = Settings::ALL.iter().filter(|setting| setting.kind == "secret");
    let environment: Vec<(&str, &str)> = secrets.map(|setting| (setting.name, canary)).collect();
    let settings = load(&environment).expect("good");
    assert!(!format!("{settings:?}").contains("canary"));
    assert!(settings.shown().iter().all(|(_, value)| !value.contains("canary")));
}

#[test]
fn misspelt_names_are_noticed() {
    let layers = Layers::of(vec![(
        Origin::DotEnv,
        &[("CHAT_MODELL", "x"), ("CHAT_MODEL", "y"), ("OTHER", "z")],
    )]);
    assert_eq!(layers.unknown(), ["CHAT_MODELL"]);
}

#[test]
fn the_configuration_page_is_fresh() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let written = std::fs::read_to_string(page).expect("docs/configuration.md is there");
    assert_eq!(written, markdown(), "run `cargo run -- configuration > docs/configuration.md`");
}

#[test]
fn the_defaults_are_the_numbers_that_the_crates_share() {
    let settings = load(&[]).expect("the defaults are good");
    assert_eq!(settings.heartbeat.0, limits::HEARTBEAT);
    assert_eq!(settings.write_stall.0, limits::WRITE_STALL);
    assert_eq!(settings.max_tool_wait.0, limits::MAX_TOOL_WAIT);
    assert_eq!(settings.tool_budget.0, limits::TOOL_BUDGET);
}
