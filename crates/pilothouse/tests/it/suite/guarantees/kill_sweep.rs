//! A turn with model steps and tool steps, killed at every point: after a restart it continues in the same stream to a
//! single end, and nothing that was received, stored or executed before is lost or repeated.

use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, RecordedRequest, Script, ScriptedCall};
use testkit::scale::scaled;
use tokio::task::JoinSet;

use super::{server_for, workspace_file};
use crate::contract::{TurnEnd, assert_complete, assert_replay};
use crate::events::{Ending, EventStream, ReceivedEvent, kinds, text_of, turn_of};
use crate::history::{history, rows};
use crate::server::TestServer;
use crate::turn_requests::{replay, send, send_and_follow, status_of};

/// Servers that are tested in parallel.
const SERVERS: usize = 4;
/// Kills after a time, and kills after a number of events: the first hit long phases, the second short ones. Times
/// `TEST_SCALE`.
const BY_TIME: usize = 12;
const BY_EVENTS: usize = 12;
/// Turns that are killed twice. Times `TEST_SCALE`.
const TWICE: usize = 8;
const PAUSE: Duration = Duration::from_millis(30);
/// The final text of the model, in every attempt.
const FINAL_TEXT: &str = "All four things are done.";

#[derive(Clone, Copy, Debug)]
enum KillPoint {
    /// This long after the client requested the stream.
    After(Duration),
    /// When the client has received this many events.
    AtEvent(usize),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_turn_killed_at_any_point_continues_to_a_single_end() {
    let whole = run_uninterrupted().await;
    let (times, events) = (scaled(BY_TIME), scaled(BY_EVENTS));
    let by_time = (0..times).map(|n| KillPoint::After(whole.took * n as u32 / times as u32));
    let by_events = (0..events).map(|n| KillPoint::AtEvent(whole.event(n, events)));
    let cut = sweep(by_time.chain(by_events).map(|point| vec![point]).collect()).await;
    assert!(cut > events / 2, "only {cut} kills hit the turn while it ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_turn_killed_again_during_its_takeover_continues_to_a_single_end() {
    let whole = run_uninterrupted().await;
    let turns = scaled(TWICE);
    let twice = (0..turns).map(|n| {
        // All stages of the turn, each combined with another stage of the takeover.
        let again = whole.took * (n * 7 % turns) as u32 / (2 * turns as u32);
        vec![KillPoint::AtEvent(whole.event(n, turns)), KillPoint::After(again)]
    });
    let cut = sweep(twice.collect()).await;
    assert!(cut > turns / 2, "only {cut} kills hit the turn while it ran");
}

/// Event count and duration of a turn that is not killed.
struct UninterruptedTurn {
    events: usize,
    took: Duration,
}

impl UninterruptedTurn {
    fn event(&self, n: usize, of: usize) -> usize {
        1 + n * (self.events - 1) / of
    }
}

async fn run_uninterrupted() -> UninterruptedTurn {
    let mut killed = KilledServer::start().await;
    let started = Instant::now();
    let events = killed.run_with_kills(0, &[]).await.len();
    // The workers share the machine, so their turns take longer than this one.
    UninterruptedTurn { events, took: started.elapsed() * 5 / 4 }
}

/// Returns how many turns were interrupted. Each case is a turn and the points at which its server is killed.
async fn sweep(cases: Vec<Vec<KillPoint>>) -> usize {
    let mut tasks = JoinSet::new();
    for index in 0..SERVERS {
        let mine: Vec<_> = cases.iter().cloned().enumerate().skip(index).step_by(SERVERS).collect();
        tasks.spawn(async move {
            let mut killed = KilledServer::start().await;
            let mut cut = 0;
            for (number, kills) in mine {
                let events = killed.run_with_kills(number + 1, &kills).await;
                cut += usize::from(kinds(&events).contains(&"data-attempt"));
            }
            killed.model.assert_no_violations();
            cut
        });
    }
    tasks.join_all().await.into_iter().sum()
}

/// One server that is killed repeatedly, and its model.
struct KilledServer {
    model: ModelServer,
    server: TestServer,
}

/// A client that reconnects to its stream whenever it breaks.
struct ReconnectingClient {
    session: String,
    text: String,
    turn: Option<String>,
    seen: Vec<ReceivedEvent>,
}

impl KilledServer {
    async fn start() -> Self {
        let model = ModelServer::start().await;
        model.respond_with(answer);
        let server = server_for(&model, &[]);
        Self { model, server }
    }

    /// Runs one turn through these kills and checks stream, history, replay and requests. Returns its stream.
    async fn run_with_kills(&mut self, number: usize, kills: &[KillPoint]) -> Vec<ReceivedEvent> {
        let session = self.server.session().await;
        let mut client = ReconnectingClient {
            session,
            text: format!("case {number}"),
            turn: None,
            seen: Vec::new(),
        };
        for kill in kills {
            let asking = client.ask(&self.server);
            match *kill {
                KillPoint::AtEvent(count) => client.read(asking, count).await,
                KillPoint::After(time) => {
                    let killing = async {
                        tokio::time::sleep(time).await;
                        self.server.kill9();
                    };
                    tokio::join!(client.read(asking, usize::MAX), killing);
                }
            }
            self.server.restart();
        }
        client.read(client.ask(&self.server), usize::MAX).await;

        let ReconnectingClient { session, text, turn, seen } = client;
        let what = format!("{text}, killed at {kills:?}, log:\n{}", self.server.log());
        assert_eq!(assert_complete(&seen), TurnEnd::Finished("stop".into()), "{what}");
        let again = send_and_follow(&self.server, &session, "m1", &text).await.all().await;
        assert_eq!(again, seen, "the replay is unchanged; {what}");
        let turn = turn.expect("it was answered");
        let replayed = replay(&self.server, &turn).await.all().await;
        assert_replay(&replayed);
        assert_eq!(text_of(&replayed), text_of(&seen), "{what}");
        assert_eq!(status_of(&self.server, &turn).await, "completed");
        let answered = self.check_history(&session, &text, &what).await;
        assert_eq!(text_of(&remaining(&seen)), answered, "stream and history agree; {what}");
        self.check_requests(&text, kills.len(), &what);
        seen
    }

    /// Returns the complete text of the response.
    async fn check_history(&self, session: &str, text: &str, what: &str) -> String {
        let history = history(&self.server, session).await;
        assert_eq!(rows(&history, "user").len(), 1, "{what}");
        let last = history.last().expect("rows");
        assert_eq!(
            (&last["role"], &last["content"]),
            (&json!("assistant"), &json!(FINAL_TEXT)),
            "{what}"
        );
        let answers = rows(&history, "assistant");
        let called: Vec<&Value> =
            answers.iter().filter_map(|row| row["tool_calls"].as_array()).flatten().collect();
        let mut names: Vec<&str> =
            called.iter().filter_map(|call| call["function"]["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["bash_exec", "list_workspace_files", "search_docs", "write_workspace_file"],
            "each tool was called once; {what}"
        );
        let outcome = |name: &str| {
            let row = history.iter().find(|row| row["name"] == name).expect("a result");
            row["outcome"].as_str().expect("an outcome").to_owned()
        };
        for repeatable in ["list_workspace_files", "search_docs", "write_workspace_file"] {
            assert_eq!(outcome(repeatable), "ok", "{repeatable}; {what}");
        }
        let lines = workspace_file(&self.server, &canary(text))
            .map_or(0, |file| std::fs::read_to_string(file).expect("a text").lines().count());
        match outcome("bash_exec").as_str() {
            "ok" => assert_eq!(lines, 1, "{what}"),
            "interrupted" => assert!(lines <= 1, "{lines} effects of one call; {what}"),
            other => panic!("the shell ended with {other}; {what}"),
        }
        answers.iter().filter_map(|row| row["content"].as_str()).collect()
    }

    /// A finished step is not requested again; an interrupted one is, once for each kill.
    fn check_requests(&self, text: &str, kills: usize, what: &str) {
        let mut per_step = [0; 4];
        for request in
            self.model.requests().iter().filter(|request| request.last_user_text() == text)
        {
            per_step[step(request)] += 1;
        }
        assert!(per_step.iter().all(|asked| *asked >= 1), "{per_step:?}; {what}");
        let again: usize = per_step.iter().sum::<usize>() - per_step.len();
        assert!(again <= kills, "asked {per_step:?}; {what}");
    }
}

impl ReconnectingClient {
    /// Sends the message if nothing was received yet; otherwise resumes after the last event.
    fn ask(&self, server: &TestServer) -> RequestBuilder {
        match (&self.turn, self.seen.last()) {
            (Some(turn), Some(last)) => server
                .get(&format!("/chat/tasks/{turn}/stream"))
                .header("last-event-id", last.id.to_string()),
            _ => send(server, &self.session, "m1", &self.text),
        }
    }

    /// Reads until this many events were received or the stream ends for any reason.
    async fn read(&mut self, asking: RequestBuilder, most: usize) {
        // Killed before the response: nothing was accepted.
        let Ok(response) = asking.send().await else { return };
        let mut events = EventStream::of(response);
        self.turn = Some(turn_of(&events));
        while self.seen.len() < most {
            match events.next().await {
                Ok(got) => self.seen.push(got),
                Err(Ending::ClosedEarly) => panic!("{}: a cut stream looks complete", self.text),
                Err(Ending::Complete | Ending::Broken) => return,
            }
        }
    }
}

/// The events that remain when a client drops those that a later attempt supersedes.
fn remaining(events: &[ReceivedEvent]) -> Vec<ReceivedEvent> {
    let superseded: Vec<_> = events
        .iter()
        .filter(|got| got.chunk["type"] == "data-attempt")
        .map(|got| &got.chunk["data"]["supersedes"])
        .filter_map(|range| Some(range["from"].as_u64()?..=range["to"].as_u64()?))
        .collect();
    let stands = |got: &&ReceivedEvent| !superseded.iter().any(|range| range.contains(&got.id));
    events.iter().filter(stands).cloned().collect()
}

fn canary(text: &str) -> String {
    format!("{}.txt", text.replace(' ', "-"))
}

/// The step of the turn, derived from the request, so that a repeated request gets the same response.
fn step(request: &RecordedRequest) -> usize {
    match request.tool_results().len() {
        0 => 0,
        2 => 1,
        3 => 2,
        4 => 3,
        other => panic!("{other} results were sent to the model"),
    }
}

fn answer(request: &RecordedRequest) -> Script {
    let file = canary(&request.last_user_text());
    let say = |first: &str, second: &str| {
        Script::default().say(first).delay(PAUSE).say(second).delay(PAUSE)
    };
    match step(request) {
        0 => say("Let me look ", "around first.").call(&[
            ScriptedCall::new("call_1", "list_workspace_files", &json!({})),
            ScriptedCall::new("call_2", "search_docs", &json!({"query": "streaming"})),
        ]),
        1 => {
            let command = format!("echo done >> {file}; sleep 0.3");
            say("Now something ", "that must happen once.").call(&[ScriptedCall::new(
                "call_3",
                "bash_exec",
                &json!({"command": command}),
            )])
        }
        2 => say("Now a file ", "for the record.").delay(PAUSE).call(&[ScriptedCall::new(
            "call_4",
            "write_workspace_file",
            &json!({"filename": "report.md", "content": "# Report"}),
        )]),
        _ => {
            let (first, second) = FINAL_TEXT.split_at(9);
            say(first, second)
        }
    }
}
