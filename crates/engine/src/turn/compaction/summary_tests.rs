//! A scripted model that is asked for a summary and does not always return one.

use std::sync::Mutex;

use async_trait::async_trait;
use ports::model::{ModelStream, StopReason};
use tokio::time::Instant;

use super::*;
use crate::job::registry::JobRegistry;
use crate::job::stop::StopCause;

const IDLE: Duration = Duration::from_secs(600);

enum ScriptStep {
    Say(&'static str),
    Fail(ModelErrorKind),
    /// Sends this text and then nothing.
    Hang(&'static str),
}

/// Performs one step per request.
struct Scripted(Mutex<Vec<ScriptStep>>);

#[async_trait]
impl ModelProvider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn model(&self, _: ModelTier) -> &str {
        "scripted"
    }

    fn window(&self, _: ModelTier) -> u64 {
        1_000
    }

    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        let text = |text: &str| Ok(ModelEvent::Text(text.into()));
        let end = Ok(ModelEvent::Finished {
            reason: StopReason::Stop,
            usage: used(),
            provider_state: None,
        });
        Ok(match self.0.lock().expect("no panic").remove(0) {
            ScriptStep::Say(said) => futures::stream::iter([text(said), end]).boxed(),
            ScriptStep::Fail(kind) => return Err(ModelError::new(kind, "no")),
            ScriptStep::Hang(said) => {
                futures::stream::iter([text(said)]).chain(futures::stream::pending()).boxed()
            }
        })
    }

    fn gives_titles(&self) -> bool {
        false
    }

    async fn title(&self, _: &str) -> Result<Option<String>, ModelError> {
        Ok(None)
    }
}

fn used() -> Usage {
    Usage { prompt_tokens: 5, completion_tokens: 2, ..Usage::default() }
}

fn question() -> ModelRequest {
    ModelRequest {
        system: SYSTEM.to_owned(),
        messages: Vec::new(),
        tools: [].into(),
        tool_use: ToolUse::Forbidden,
        tier: ModelTier::Standard,
        mode: TurnMode::Fast,
    }
}

async fn reply(acts: Vec<ScriptStep>) -> SummaryReply {
    let running = JobRegistry::default()
        .register(protocol::TurnId::from("t").into(), Instant::now() + 10 * IDLE);
    let model = Scripted(Mutex::new(acts));
    ask(&model, question(), &running.stop, IDLE, 10).await.expect("no stop")
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_the_model_text_cut_to_its_limit() {
    let whole = reply(vec![ScriptStep::Say("  notes\n")]).await;
    assert_eq!(whole, SummaryReply { text: Some("notes".into()), usage: Some(used()) });
    let cut = reply(vec![ScriptStep::Say("0123456789 and more")]).await;
    assert_eq!(cut.text.as_deref(), Some("0123456789…"));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_or_returns_nothing_costs_only_the_summary() {
    let overloaded = || ScriptStep::Fail(ModelErrorKind::Overloaded { after: None });
    let table = [
        (vec![ScriptStep::Say(" ")], SummaryReply { text: None, usage: Some(used()) }),
        (vec![ScriptStep::Fail(ModelErrorKind::TooLong)], SummaryReply::default()),
        (vec![overloaded(), overloaded()], SummaryReply::default()),
        (vec![ScriptStep::Hang("begun")], SummaryReply::default()),
    ];
    for (case, (acts, expected)) in table.into_iter().enumerate() {
        let began = Instant::now();
        assert_eq!(reply(acts).await, expected, "case {case}");
        assert!(began.elapsed() <= SUMMARY_TIMEOUT, "case {case} is bounded");
    }
    let again = reply(vec![overloaded(), ScriptStep::Say("notes")]).await;
    assert_eq!(again.text.as_deref(), Some("notes"), "the model is asked again");
}

#[tokio::test(start_paused = true)]
async fn a_stop_of_the_turn_does_not_wait_for_the_summary() {
    let running = JobRegistry::default()
        .register(protocol::TurnId::from("t").into(), Instant::now() + 10 * IDLE);
    let model = Scripted(Mutex::new(vec![ScriptStep::Hang("begun")]));
    let stop = running.stop.clone();
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.stop(StopCause::Cancelled);
    };
    let began = Instant::now();
    let (reply, ()) = tokio::join!(ask(&model, question(), &running.stop, IDLE, 10), stopping);
    assert_eq!(reply, Err(TurnHalt::Stop(StopCause::Cancelled)));
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}
