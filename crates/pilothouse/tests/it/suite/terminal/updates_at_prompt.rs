//! What the terminal shows of a session while it waits at the prompt.

use std::time::Duration;

use serde_json::json;
use testkit::external_service::{ExternalService, ServiceResponse};
use testkit::model_server::{Dialect, Script};

use super::{ScriptedServer, Terminal};
use crate::scripts::todo;

/// The internal API key with which services report.
const KEY: &str = "key-of-the-services-0123456789abcdef";

#[tokio::test(flavor = "multi_thread")]
async fn turns_of_other_clients_are_shown_once_at_the_prompt() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.model.enqueue(Script::text("Before you came."));
    setup.turn(&session, "hello").await;
    let terminal = Terminal::open(&setup.server, &["--session", &session]);
    terminal.shown.wait_for(&format!("Chat {session}."));
    // Two polls of a session without news.
    tokio::time::sleep(Duration::from_secs(5)).await;
    for (number, words) in ["News one.", "News two."].iter().enumerate() {
        setup.model.enqueue(Script::default().call(&[todo(&format!("call_{number}"), "x")]));
        setup.model.enqueue(Script::text(words));
        setup.turn(&session, "elsewhere").await;
        terminal.shown.wait_for(words);
    }
    for once in ["Before you came.", "News one.", "News two."] {
        assert_eq!(terminal.times(once), 1, "{once}: {}", terminal.shown.text());
    }
    assert_eq!(terminal.times("(the chat continues automatically)"), 2);
    terminal.leave();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_operation_is_shown_and_the_prompt_is_free_until_then() {
    let service = ExternalService::start(&[("render", json!({"long_running": true}))]).await;
    service.answer("render", ServiceResponse::accepted());
    let file = service.tools_file();
    let settings = [("CHAT_TOOLS_FILE", file.as_str()), ("CHAT_INTERNAL_API_KEY", KEY)];
    let setup = ScriptedServer::with(Dialect::OpenAi, &settings).await;
    let mut terminal = Terminal::open(&setup.server, &[]);
    terminal.shown.wait_for("> ");
    setup.model.enqueue(Script::tool("call_a", "render", &json!({"work": "a film"})));
    setup.model.enqueue(Script::text("It has begun."));
    terminal.say("make me a film");
    terminal.shown.wait_for("It has begun.");
    let call = service.wait_for_calls("render", 1).await.remove(0);
    // Meanwhile the prompt accepts other messages.
    setup.model.enqueue(Script::text("Half past nine."));
    terminal.say("what time is it?");
    terminal.shown.wait_for("Half past nine.");

    setup.model.enqueue(Script::text("The film is ready."));
    let path = format!("/chat/operations/{}/complete", call.operation_id());
    let result = json!({"success": true, "result": {"file": "film.mp4"}});
    let report = setup.server.post(&path, &result).header("x-api-key", KEY).send().await;
    assert_eq!(report.expect("an answer").status(), 200);
    terminal.shown.wait_for("(the chat continues automatically)");
    terminal.shown.wait_for("The film is ready.");
    assert_eq!(terminal.times("The film is ready."), 1);
    assert_eq!(
        terminal.times("(the chat continues automatically)"),
        1,
        "{}",
        terminal.shown.text()
    );
    terminal.leave();
}
