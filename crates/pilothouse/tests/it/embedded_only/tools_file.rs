//! What `doctor` and the start of the server report about the file of external tools.

use std::process::Stdio;

use serde_json::json;

use super::ENGINE;
use crate::server::{OutputLog, TestStorage, refused};

const KEY: &str = "internal-internal-internal-internal";

/// A test environment with a tools file of one long-running tool, and the settings that name the file.
fn described(url: &str) -> (TestStorage, Vec<(String, String)>) {
    let storage = TestStorage::new(ENGINE);
    let file = storage.folder().join("tools.json");
    let tool = json!({
        "name": "render", "description": "Renders.", "parameters": {"type": "object"}, "url": url,
        "long_running": true,
    });
    std::fs::write(&file, json!({"tools": [tool]}).to_string()).expect("written");
    let file = file.to_str().expect("UTF-8").to_owned();
    (storage, vec![("CHAT_TOOLS_FILE".to_owned(), file)])
}

fn doctor(storage: &TestStorage, settings: &[(String, String)]) -> (bool, String) {
    let output = storage.command(settings, &["doctor", "--port", "0"]).output().expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = shown.lines().find(|line| line.contains("  Tools ")).expect("a line about tools");
    (output.status.success(), line.to_owned())
}

#[test]
fn doctor_reads_the_file_of_external_tools() {
    let storage = TestStorage::new(ENGINE);
    let (well, line) = doctor(&storage, &[]);
    assert!(well && line.starts_with("ok") && line.contains("built-in tools only"), "{line}");
    let (storage, mut settings) = described("http://127.0.0.1:9/render");
    let (well, line) = doctor(&storage, &settings);
    assert!(well && line.starts_with("note") && line.contains("CHAT_INTERNAL_API_KEY"), "{line}");
    settings.push(("CHAT_INTERNAL_API_KEY".to_owned(), KEY.to_owned()));
    let (well, line) = doctor(&storage, &settings);
    assert!(well && line.starts_with("ok") && line.contains("render"), "{line}");
    let (storage, settings) = described("ftp://nowhere");
    let (well, line) = doctor(&storage, &settings);
    assert!(!well && line.starts_with("BAD") && line.contains("http:// or https://"), "{line}");
    let said = refused(storage.command(&settings, &["serve", "--port", "0"]));
    assert!(said.contains("CHAT_TOOLS_FILE") && said.contains("http:// or https://"), "{said}");
}

#[test]
fn a_start_without_the_internal_key_prints_a_notice() {
    let (storage, settings) = described("http://127.0.0.1:9/render");
    let mut server = storage
        .command(&settings, &["serve", "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let announced = OutputLog::default();
    announced.follow(server.stdout.take().expect("piped"));
    announced.wait_for("Notice: some external tools are long-running");
    announced.wait_for("CHAT_INTERNAL_API_KEY is not set");
    server.kill().expect("a child can be killed");
    server.wait().expect("a killed child ends");
}
