//! A turn with model steps and tool steps, killed at every moment: after a restart it goes on in the same stream
//! to its one end, and nothing that was seen, said or done before is taken back or done twice.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, RecordedRequest, Script, ScriptedCall};
use tokio::task::JoinSet;

use super::history::history;
use super::{follow_after, replay, rows, send, send_and_follow, server_for, status_of, workspace_file};
use crate::contract::{End, assert_replay, assert_whole};
use crate::events::{Ending, Events, Got, kinds, text_of};
use crate::server::TestServer;

/// Servers that are swept at the same time.
const LANES: usize = 4;
/// Kills by the clock, and kills when so many events were seen: the first find what takes long, the second what
/// is over in an instant.
const BY_TIME: usize = 28;
const BY_EVENTS: usize = 28;
const PAUSE: Duration = Duration::from_millis(30);
/// What the model says last, in every attempt.
const LAST_WORDS: &str = "All four things are done.";

#[derive(Clone, Copy, Debug)]
enum Moment {
    After(Duration),
    AtEvent(usize),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_turn_killed_at_any_moment_goes_on_to_its_one_end() {
    let mut undisturbed = Lane::start().await;
    let started = Instant::now();
    let events = undisturbed.survive(0, None).await.seen;
    // Four servers share the machine, so their turns take longer than this one did.
    let duration = started.elapsed() * 5 / 4;
    let by_time = (0..BY_TIME).map(|n| Moment::After(duration * n as u32 / BY_TIME as u32));
    let by_events = (0..BY_EVENTS).map(|n| Moment::AtEvent(1 + n * (events - 1) / BY_EVENTS));
    let moments: Vec<Moment> = by_time.chain(by_events).collect();

    let mut lanes = JoinSet::new();
    for lane in 0..LANES {
        let mine: Vec<_> = moments.iter().copied().enumerate().skip(lane).step_by(LANES).collect();
        lanes.spawn(async move {
            let mut lane = Lane::start().await;
            let mut cut = 0;
            for (number, moment) in mine {
                cut += usize::from(lane.survive(number + 1, Some(moment)).await.cut);
            }
            lane.model.assert_no_violations();
            cut
        });
    }
    let cut: usize = lanes.join_all().await.into_iter().sum();
    assert!(cut > BY_EVENTS / 2, "only {cut} kills found the turn at work");
}

/// One server, killed again and again, and its model.
struct Lane {
    model: ModelServer,
    server: TestServer,
}

struct Survived {
    /// Events before the kill.
    seen: usize,
    /// Whether the kill found the turn at work.
    cut: bool,
}

impl Lane {
    async fn start() -> Self {
        let model = ModelServer::start().await;
        model.respond_with(answer);
        let server = server_for(&model, &[]);
        Self { model, server }
    }

    async fn survive(&mut self, number: usize, kill: Option<Moment>) -> Survived {
        let text = format!("case {number}");
        let session = self.server.session().await;
        let seen = self.read_until_killed(&session, &text, kill).await;
        // Who has seen nothing yet sends again; who has comes back to where the stream broke.
        let events = match seen.last() {
            Some(last) => {
                let turn = self.turn(&session, &text).await;
                let rest = follow_after(&self.server, &turn, last.id).await.all().await;
                [seen.as_slice(), &rest].concat()
            }
            None => send_and_follow(&self.server, &session, "m1", &text).await.all().await,
        };
        let what = format!("{text}, killed {kill:?}, log:\n{}", self.server.log());
        assert_eq!(assert_whole(&events), End::Finished("stop".into()), "{what}");
        let cut = kinds(&events).contains(&"data-attempt");

        let again = send_and_follow(&self.server, &session, "m1", &text).await.all().await;
        assert_eq!(again, events, "what was seen stays true; {what}");
        let turn = self.turn(&session, &text).await;
        let replayed = replay(&self.server, &turn).await.all().await;
        assert_replay(&replayed);
        assert_eq!(text_of(&replayed), text_of(&events), "{what}");
        assert_eq!(status_of(&self.server, &turn).await, "completed");

        self.check_history(&session, &text, &what).await;
        self.check_requests(&text, kill.is_some(), &what);
        Survived { seen: seen.len(), cut }
    }

    /// Sends the message and reads; at the moment, the server is killed and started again.
    async fn read_until_killed(&mut self, session: &str, text: &str, kill: Option<Moment>) -> Vec<Got> {
        let sending = send(&self.server, session, "m1", text).send();
        let at_event = match kill {
            Some(Moment::AtEvent(count)) => count,
            _ => usize::MAX,
        };
        let reading = async {
            let mut seen = Vec::new();
            // Killed before it could answer: nothing was promised.
            let Ok(response) = sending.await else { return seen };
            let mut events = Events::of(response);
            while seen.len() < at_event {
                match events.next().await {
                    Ok(got) => seen.push(got),
                    Err(Ending::ClosedEarly) => panic!("{text}: a cut stream looks complete"),
                    Err(Ending::Complete | Ending::Broken) => break,
                }
            }
            seen
        };
        match kill {
            None => reading.await,
            Some(Moment::AtEvent(_)) => {
                let seen = reading.await;
                self.server.restart();
                seen
            }
            Some(Moment::After(time)) => {
                let killing = async {
                    tokio::time::sleep(time).await;
                    self.server.kill9();
                };
                let (seen, ()) = tokio::join!(reading, killing);
                self.server.restart();
                seen
            }
        }
    }

    async fn turn(&self, session: &str, text: &str) -> String {
        let joined = send(&self.server, session, "m1", text).send().await.expect("an answer");
        joined.headers()["x-turn-id"].to_str().expect("text").to_owned()
    }

    async fn check_history(&self, session: &str, text: &str, what: &str) {
        let history = history(&self.server, session).await;
        assert_eq!(rows(&history, "user").len(), 1, "{what}");
        let last = history.last().expect("rows");
        assert_eq!((&last["role"], &last["content"]), (&json!("assistant"), &json!(LAST_WORDS)), "{what}");
        let answers = rows(&history, "assistant");
        let called: Vec<&Value> =
            answers.iter().filter_map(|row| row["tool_calls"].as_array()).flatten().collect();
        let mut names: Vec<&str> =
            called.iter().filter_map(|call| call["function"]["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["bash_exec", "list_workspace_files", "search_docs", "write_workspace_file"],
            "each thing was asked for once; {what}"
        );
        let outcome = |name: &str| {
            let row = history.iter().find(|row| row["name"] == name).expect("a result");
            row["outcome"].as_str().expect("an outcome").to_owned()
        };
        for repeatable in ["list_workspace_files", "search_docs", "write_workspace_file"] {
            assert_eq!(outcome(repeatable), "ok", "{repeatable}; {what}");
        }
        let lines = workspace_file(&self.server, &canary(text)).map_or(0, |file| {
            std::fs::read_to_string(file).expect("a text").lines().count()
        });
        match outcome("bash_exec").as_str() {
            "ok" => assert_eq!(lines, 1, "{what}"),
            "interrupted" => assert!(lines <= 1, "{lines} effects of one call; {what}"),
            other => panic!("the shell ended with {other}; {what}"),
        }
    }

    /// A step that was finished is not asked for again; the one that was cut is, once.
    fn check_requests(&self, text: &str, killed: bool, what: &str) {
        let mut per_step = [0; 4];
        for request in self.model.requests().iter().filter(|request| request.last_user_text() == text) {
            per_step[step(request)] += 1;
        }
        assert!(per_step.iter().all(|asked| *asked >= 1), "{per_step:?}; {what}");
        let again: usize = per_step.iter().sum::<usize>() - per_step.len();
        assert!(again <= usize::from(killed), "asked {per_step:?}; {what}");
    }
}

fn canary(text: &str) -> String {
    format!("{}.txt", text.replace(' ', "-"))
}

/// How far the turn is: by what the model is shown, so that a repeated question gets the same answer.
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
    let say = |first: &str, second: &str| Script::default().say(first).delay(PAUSE).say(second).delay(PAUSE);
    match step(request) {
        0 => say("Let me look ", "around first.").call(&[
            ScriptedCall::new("call_1", "list_workspace_files", &json!({})),
            ScriptedCall::new("call_2", "search_docs", &json!({"query": "streaming"})),
        ]),
        1 => {
            let command = format!("echo done >> {file}; sleep 0.1");
            say("Now something ", "that must happen once.")
                .call(&[ScriptedCall::new("call_3", "bash_exec", &json!({"command": command}))])
        }
        2 => say("Now a file ", "for the record.").delay(PAUSE).call(&[ScriptedCall::new(
            "call_4",
            "write_workspace_file",
            &json!({"filename": "report.md", "content": "# Report"}),
        )]),
        _ => {
            let (first, second) = LAST_WORDS.split_at(9);
            say(first, second)
        }
    }
}
