//! Command line behavior that needs no store: refused configurations, settings, and output.

use std::process::{Output, Stdio};

use crate::server::{Engine, TestStorage};

fn run(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    run_in(&TestStorage::new(Engine::Embedded), environment, arguments)
}

fn run_in(storage: &TestStorage, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let environment: Vec<_> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    storage.command(&environment, arguments).output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_invalid_configuration_refuses_to_start_with_a_message() {
    for (environment, arguments, part) in [
        (&[("DATABASE_URL", "postgres://x")][..], &["serve"][..], "DATABASE_URL is set"),
        (&[("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", "short")], &["serve"], "openssl rand"),
        (&[], &["--host", "0.0.0.0"], "only allows a loopback address"),
        (&[("PILOTHOUSE_PORT", "many")], &["serve"], "PILOTHOUSE_PORT (environment) must be"),
    ] {
        let output = run(environment, arguments);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn environment_variables_override_env_files() {
    let storage = TestStorage::new(Engine::Embedded);
    std::fs::write(
        storage.folder().join(".env"),
        "NUM_COPILOT_WORKERS=7\nCHAT_MAX_STEPS=8\nCHAT_MODELL=x\n",
    )
    .expect("written");
    std::fs::write(storage.folder().join(".env.default"), "CHAT_MAX_STEPS=9\nCHAT_STREAM_TTL=10\n")
        .expect("written");
    let output = run_in(&storage, &[("NUM_COPILOT_WORKERS", "6")], &["doctor", "--port", "0"]);
    let shown = stdout(&output);
    let line = |name: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with(name)).expect("shown");
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("NUM_COPILOT_WORKERS"), "6 environment");
    assert_eq!(line("CHAT_MAX_STEPS"), "8 .env");
    assert_eq!(line("CHAT_STREAM_TTL"), "10 .env.default");
    assert_eq!(line("PILOTHOUSE_PORT"), "0 command line");
    assert_eq!(line("CHAT_MAX_TOOL_CALLS"), "500 default");
    assert!(shown.contains("perhaps misspelled: CHAT_MODELL"));
    std::fs::write(storage.folder().join(".env"), "not a line\n").expect("written");
    assert!(stderr(&run_in(&storage, &[], &["doctor"])).contains(".env has a line"));
}

#[test]
fn doctor_masks_secrets_and_fails_when_something_is_wrong() {
    let secret = "canary-canary-canary-canary-canary";
    let good =
        run(&[("JWT_VERIFY_KEY", secret), ("ENCRYPTION_KEY", secret)], &["doctor", "--port", "0"]);
    assert!(good.status.success(), "{}{}", stdout(&good), stderr(&good));
    assert!(!stdout(&good).contains("canary") && stdout(&good).contains("offline pilot"));
    let bad = run(
        &[("CHAT_BASE_URL", "http://127.0.0.1:9/v1"), ("CHAT_MODEL", "m")],
        &["doctor", "--port", "0"],
    );
    assert!(!bad.status.success());
    assert!(stdout(&bad).contains("Check CHAT_BASE_URL"), "{}", stdout(&bad));
}

#[test]
fn a_closed_output_pipe_is_no_failure() {
    let storage = TestStorage::new(Engine::Embedded);
    for arguments in [["openapi"], ["doctor"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        // Closed before anything is printed, so the first write fails.
        drop(reader);
        let ran = storage
            .command(&[], &arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("it runs");
        let complaint = String::from_utf8_lossy(&ran.stderr);
        assert!(!complaint.contains("panicked"), "{arguments:?}: {complaint}");
        assert_ne!(ran.status.code(), Some(101), "{arguments:?}");
    }
}

#[test]
fn a_token_is_printed_only_with_a_signing_key() {
    assert!(stderr(&run(&[], &["token"])).contains("JWT_VERIFY_KEY is not set"));
}
