//! Lines that are typed while a turn runs.

use testkit::model_server::{Dialect, Gate, Script};

use super::{ScriptedServer, Terminal};
use crate::server::{Api, eventually, json_of};

async fn push(server: &Api, session: &str, text: &str) {
    let path = format!("/chat/sessions/{session}/messages/pending");
    let sent = server.post(&path, &serde_json::json!({"message": text})).send().await;
    json_of(sent.expect("an answer")).await;
}

/// A server with a session, its terminal, and a turn that is held in its first response.
async fn at_work(gate: &Gate) -> (ScriptedServer, String, Terminal) {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let mut terminal = Terminal::open(&setup.server, &["--session", &session]);
    terminal.shown.wait_for("> ");
    setup.model.enqueue(Script::default().say("First.").wait_for(gate));
    terminal.say("work");
    gate.reached().await;
    terminal.shown.wait_for("First.");
    (setup, session, terminal)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_typed_while_a_turn_runs_is_sent_to_it() {
    let gate = Gate::closed();
    let (setup, session, mut terminal) = at_work(&gate).await;
    setup.model.enqueue(Script::text("Second."));
    terminal.say("");
    terminal.say("also this");
    terminal.shown.wait_for("(queued: also this)");
    gate.open();
    terminal.shown.wait_for("(delivered: also this)");
    terminal.shown.wait_for("Second.");
    assert_eq!(setup.model.requests()[1].last_user_text(), "also this");
    terminal.leave();
    let rows = setup.messages(&session).await;
    let words: Vec<&str> = rows.iter().filter_map(|row| row["content"].as_str()).collect();
    assert_eq!(words, ["work", "First.", "also this", "Second."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_refused_by_the_turn_is_kept_for_the_next_prompt() {
    let gate = Gate::closed();
    let (setup, session, mut terminal) = at_work(&gate).await;
    for number in 1..=10 {
        push(&setup.server, &session, &format!("follow-up {number}")).await;
    }
    terminal.say("one too many");
    terminal.shown.wait_for("(kept for the next prompt: one too many)");
    terminal.say("and its successor");
    setup.model.enqueue(Script::text("Second."));
    setup.model.respond_with(|request| {
        let words = request.last_user_text();
        Script::text(&format!("To {}.", words.rsplit("\n\n").next().unwrap_or_default()))
    });
    gate.open();
    terminal.shown.wait_for("> one too many");
    // The next line is sent once the one before it was sent: to the same turn, or after it.
    terminal.shown.wait_for("To and its successor.");
    let heard = |words: &str| {
        setup.model.requests().iter().any(|request| request.body.to_string().contains(words))
    };
    assert!(heard("one too many") && heard("follow-up 10"));
    terminal.leave();
}

#[tokio::test(flavor = "multi_thread")]
async fn undelivered_lines_of_a_cancelled_turn_are_reported() {
    let gate = Gate::closed();
    let (setup, _, mut terminal) = at_work(&gate).await;
    terminal.say("also this");
    terminal.shown.wait_for("(queued: also this)");
    terminal.interrupt();
    terminal.shown.wait_for("(stopped)");
    terminal.shown.wait_for("(not delivered: also this)");
    assert_eq!(setup.model.requests().len(), 1);
    terminal.leave();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_turn_of_another_client_is_answered_in_the_terminal() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    let mut terminal = Terminal::open(&setup.server, &["--session", &session]);
    terminal.shown.wait_for("> ");
    let gate = Gate::closed();
    setup.model.enqueue(Script::default().say("First.").wait_for(&gate));
    setup.model.enqueue(Script::text("Second."));
    let elsewhere = setup.server.say(&session, "from the page").await;
    gate.reached().await;
    terminal.say("from the terminal");
    // Whether or not the terminal has noticed by now that a turn runs.
    eventually("the follow-up", async || {
        let path = format!("/chat/sessions/{session}/messages/pending");
        let list = json_of(setup.server.get(&path).send().await.expect("an answer")).await;
        (list["count"] == 1).then_some(())
    })
    .await;
    gate.open();
    terminal.shown.wait_for("First.");
    terminal.shown.wait_for("Second.");
    elsewhere.all().await;
    terminal.leave();
}
