//! The tools that find and run single blocks.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use ports::call_services::{BlockCall, BlockCallEnd};
use ports::store::BlockOutcome;
use ports::tool::ToolContext;
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::permissions::{CapabilityFilter, Permissions};
use protocol::review::{Review, ReviewStatus, block_node_id, session_execution_id};
use serde_json::{Map, Value, json};

use super::fake_executions::RecordedCall;
use super::{AgentTools, message_of};

const COUNTER: &str = "b1ab9b19-67a6-406d-abf5-2dba76d00c79";
const ORCHESTRATOR: &str = "3b191d9f-356f-482d-8238-ba04b6d18381";
const COPILOT: &str = "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6";
const INPUT: &str = "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b";

/// A block with a spec only; it is never executed.
struct SpecOnlyBlock(BlockSpec);

#[async_trait]
impl Block for SpecOnlyBlock {
    fn spec(&self) -> &BlockSpec {
        &self.0
    }

    async fn run(
        &self,
        _: Map<String, Value>,
        _: BlockContext,
        _: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        Err(BlockError::failed("This block is never run."))
    }

    fn examples(&self) -> Vec<BlockExample> {
        Vec::new()
    }
}

fn block(
    id: &'static str,
    name: &'static str,
    description: &'static str,
    kind: BlockKind,
) -> Arc<dyn Block> {
    Arc::new(SpecOnlyBlock(BlockSpec {
        inputs: json!({
            "type": "object",
            "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
            "required": ["text"],
        }),
        outputs: json!({"type": "object", "properties": {"word_count": {"type": "integer"}}}),
        ..BlockSpec::new(id, name, description).categories(&[BlockCategory::Text]).kind(kind)
    }))
}

fn fixture() -> AgentTools {
    let standard = BlockKind::Standard;
    AgentTools::with_blocks(vec![
        block(COUNTER, "WordCharacterCountBlock", "Counts words and characters.", standard),
        block("00000000-0000-0000-0000-00000000000a", "CountdownBlock", "Counts down.", standard),
        block("00000000-0000-0000-0000-00000000000b", "SumBlock", "Adds and counts.", standard),
        block(INPUT, "AgentInputBlock", "Takes what counts.", BlockKind::Input),
        block(ORCHESTRATOR, "OrchestratorBlock", "Leads what counts.", standard),
        block(COPILOT, "AutoPilotBlock", "Asks the copilot what counts.", standard),
    ])
}

fn found(response: &Value) -> Vec<&str> {
    let blocks = response["blocks"].as_array().expect("blocks");
    blocks.iter().map(|block| block["name"].as_str().expect("a name")).collect()
}

fn without(fixture: &AgentTools, block: &str) -> ToolContext {
    let filter = CapabilityFilter { blocks: vec![block.into()], ..CapabilityFilter::default() };
    ToolContext { permissions: Permissions::default().narrowed(filter), ..fixture.context() }
}

#[tokio::test]
async fn blocks_are_found_by_words_and_exact_names_come_first() {
    let fixture = fixture();
    let response = fixture.call("find_block", json!({"query": "count words"})).await;
    assert_eq!(found(&response)[0], "WordCharacterCountBlock");
    assert_eq!(response["blocks"][0]["required_inputs"], json!(["text"]));
    assert!(response["blocks"][0].get("input_schema").is_none());
    let response = fixture.call("find_block", json!({"query": "counts words sumblock"})).await;
    assert_eq!(found(&response)[0], "SumBlock");
    let response = fixture.call("find_block", json!({"query": COUNTER.to_uppercase()})).await;
    assert_eq!(found(&response), ["WordCharacterCountBlock"]);
}

#[tokio::test]
async fn graph_only_blocks_are_found_only_for_agent_generation() {
    let fixture = fixture();
    let response = fixture.call("find_block", json!({"query": "counts"})).await;
    for hidden in ["AgentInputBlock", "OrchestratorBlock", "AutoPilotBlock"] {
        assert!(!found(&response).contains(&hidden), "{hidden}");
    }
    let arguments = json!({"query": "counts", "for_agent_generation": true});
    let response = fixture.call("find_block", arguments).await;
    assert_eq!(found(&response).len(), 6);
    assert!(response["blocks"][0]["output_schema"].is_object());
    let response = fixture.call("find_block", json!({"query": INPUT})).await;
    assert_eq!(response["type"], "no_results");
    assert!(message_of(&response).contains("part of an agent"), "{}", message_of(&response));
}

#[tokio::test]
async fn a_block_that_is_not_permitted_is_neither_found_nor_run() {
    let fixture = fixture();
    for named in [COUNTER, "b1ab9b19", "wordcharactercountblock"] {
        for query in ["counts words", COUNTER, "WordCharacterCountBlock"] {
            let context = without(&fixture, named);
            let response = fixture.call_in(context, "find_block", json!({"query": query})).await;
            let names = response["blocks"].as_array().map(|_| found(&response));
            assert!(!names.unwrap_or_default().contains(&"WordCharacterCountBlock"), "{response}");
        }
        let arguments = json!({"block_id": COUNTER, "input_data": {"text": "x"}});
        let response = fixture.call_in(without(&fixture, named), "run_block", arguments).await;
        assert_eq!(response["error"], "permission_denied");
    }
    assert!(fixture.runs().asked().is_empty());
}

#[tokio::test]
async fn a_block_is_run_in_two_steps() {
    let fixture = fixture();
    let outputs = ["a", "b", "a"].iter().zip(1..).map(|(pin, n)| ((*pin).to_owned(), json!(n)));
    let outcome = BlockOutcome { outputs: outputs.collect(), error: None };
    *fixture.runs().block_end.lock().expect("not poisoned") = Some(BlockCallEnd::Done(outcome));
    let response = fixture.call("run_block", json!({"block_id": COUNTER})).await;
    assert_eq!(response["type"], "block_details");
    assert_eq!(response["block"]["inputs"]["required"], json!(["text"]));
    assert!(fixture.runs().asked().is_empty());
    let arguments = json!({"block_id": COUNTER, "input_data": {"text": "one two"}});
    let response = fixture.call("run_block", arguments.clone()).await;
    assert_eq!(
        response,
        json!({
            "type": "block_output",
            "message": "WordCharacterCountBlock has finished.",
            "block_id": COUNTER,
            "block_name": "WordCharacterCountBlock",
            "outputs": {"a": [1, 3], "b": [2]},
            "success": true,
        })
    );
    let dry = ToolContext { dry_run: true, ..fixture.context() };
    let response = fixture.call_in(dry, "run_block", arguments).await;
    assert_eq!(response["is_dry_run"], true);
    let dry_runs: Vec<bool> = fixture
        .runs()
        .asked()
        .into_iter()
        .filter_map(|asked| match asked {
            RecordedCall::Block(call) => Some(call.dry_run),
            _ => None,
        })
        .collect();
    assert_eq!(dry_runs, [false, true]);
}

#[tokio::test]
async fn inputs_are_checked_before_the_block_runs() {
    let fixture = fixture();
    for (input, kind, unknown, word) in [
        (json!({"text": "x", "txet": 1}), "input_validation_error", json!(["txet"]), "txet"),
        (json!({"times": 2}), "block_details", Value::Null, "text"),
        (json!({"text": 5}), "input_validation_error", json!([]), "text: 5"),
        (json!({"text": "x", "times": 0}), "input_validation_error", json!([]), "times: 0"),
    ] {
        let arguments = json!({"block_id": COUNTER, "input_data": input});
        let response = fixture.call("run_block", arguments).await;
        assert_eq!((&response["type"], &response["unrecognized_fields"]), (&json!(kind), &unknown));
        assert!(message_of(&response).contains(word), "{}", message_of(&response));
    }
    let arguments =
        json!({"block_id": COUNTER, "input_data": {"text": "x"}, "validate_only": true});
    let response = fixture.call("run_block", arguments).await;
    assert!(message_of(&response).starts_with("The inputs are valid"), "{}", message_of(&response));
    assert!(fixture.runs().asked().is_empty());
}

#[tokio::test]
async fn a_block_that_only_works_inside_an_agent_is_not_run() {
    let fixture = fixture();
    for id in [INPUT, ORCHESTRATOR, COPILOT] {
        let arguments = json!({"block_id": id, "input_data": {"text": "x"}});
        let response = fixture.call("run_block", arguments).await;
        assert_eq!(response["error"], "block_not_runnable");
        assert!(message_of(&response).contains("run_sub_session"), "{}", message_of(&response));
    }
    let response = fixture.call("run_block", json!({"block_id": "b"})).await;
    assert_eq!(response["error"], "block_not_found");
    assert!(fixture.runs().asked().is_empty());
}

fn review(status: ReviewStatus, session: &str) -> Review {
    Review {
        id: "copilot-node-x:01234567".into(),
        user_id: "tester".into(),
        execution_id: session_execution_id(&session.into()),
        graph_id: "g".into(),
        graph_version: 0,
        node_id: block_node_id(&COUNTER.into()),
        payload: json!({"text": "as approved"}),
        instructions: "May it?".into(),
        editable: true,
        status,
        review_message: Some("Too long.".into()),
        was_edited: true,
        created_at: Timestamp::UNIX_EPOCH,
        reviewed_at: None,
    }
}

#[tokio::test]
async fn every_other_end_of_a_block_is_explained() {
    let fixture = fixture();
    let waiting = review(ReviewStatus::Waiting, "session");
    let failed = BlockOutcome {
        outputs: vec![("word_count".into(), json!(1))],
        error: Some("It broke.".into()),
    };
    for (end, kind, code, word) in [
        (BlockCallEnd::Review(Box::new(waiting)), "review_required", "", "continue_run_block"),
        (BlockCallEnd::Done(failed), "error", "block_failed", "It broke."),
        (BlockCallEnd::NoFunds, "error", "insufficient_credits", "credits"),
        (BlockCallEnd::TimedOut, "error", "timed_out", "run_agent"),
        (BlockCallEnd::Interrupted, "error", "interrupted", "not repeated"),
    ] {
        *fixture.runs().block_end.lock().expect("not poisoned") = Some(end);
        let arguments = json!({"block_id": COUNTER, "input_data": {"text": "x"}});
        let response = fixture.call("run_block", arguments).await;
        assert_eq!(
            (&response["type"], response["error"].as_str().unwrap_or("")),
            (&json!(kind), code)
        );
        assert!(message_of(&response).contains(word), "{}", message_of(&response));
        if kind == "review_required" {
            assert_eq!(
                (&response["review_id"], &response["graph_exec_id"], &response["input_data"]),
                (
                    &json!("copilot-node-x:01234567"),
                    &json!("copilot-session-session"),
                    &json!({"text": "as approved"})
                )
            );
        }
    }
}

#[tokio::test]
async fn an_approved_block_is_run_and_its_review_is_removed() {
    let fixture = fixture();
    fixture
        .store
        .reviews
        .lock()
        .expect("not poisoned")
        .push(review(ReviewStatus::Approved, "session"));
    let arguments = json!({"review_id": "copilot-node-x:01234567"});
    let failed = BlockOutcome { outputs: Vec::new(), error: Some("no".into()) };
    *fixture.runs().block_end.lock().expect("not poisoned") = Some(BlockCallEnd::Done(failed));
    let response = fixture.call("continue_run_block", arguments.clone()).await;
    assert_eq!(response["error"], "block_failed");
    assert_eq!(
        fixture.store.reviews.lock().expect("not poisoned").len(),
        1,
        "the review stays after a failure"
    );
    let outcome = BlockOutcome { outputs: vec![("word_count".into(), json!(2))], error: None };
    *fixture.runs().block_end.lock().expect("not poisoned") = Some(BlockCallEnd::Done(outcome));
    let response = fixture.call("continue_run_block", arguments.clone()).await;
    assert_eq!(response["outputs"], json!({"word_count": [2]}));
    let decision = review(ReviewStatus::Approved, "session").decision();
    let expected = BlockCall {
        block_id: COUNTER.into(),
        input: json!({"text": "as approved"}).as_object().expect("an object").clone(),
        dry_run: false,
        review: Some("copilot-node-x:01234567".into()),
        decision,
    };
    assert_eq!(fixture.runs().asked().pop(), Some(RecordedCall::Block(expected)));
    let response = fixture.call("continue_run_block", arguments).await;
    assert_eq!(response["error"], "review_not_found");
}

#[tokio::test]
async fn a_block_without_an_approved_review_of_this_session_is_not_run() {
    for (status, session, code, word) in [
        (ReviewStatus::Waiting, "session", "review_waiting", "not decided"),
        (ReviewStatus::Rejected, "session", "review_rejected", "Too long."),
        (ReviewStatus::Approved, "another", "review_not_found", "no review"),
    ] {
        let fixture = fixture();
        fixture.store.reviews.lock().expect("not poisoned").push(review(status, session));
        let arguments = json!({"review_id": "copilot-node-x:01234567"});
        let response = fixture.call("continue_run_block", arguments).await;
        assert_eq!(response["error"], code);
        assert!(message_of(&response).contains(word), "{}", message_of(&response));
        assert!(fixture.runs().asked().is_empty());
    }
}

#[tokio::test]
async fn a_block_with_invalid_edited_inputs_is_not_run() {
    let fixture = fixture();
    for (payload, kind) in
        [(json!({"text": 5}), "input_validation_error"), (json!("text"), "error")]
    {
        let edited = Review { payload, ..review(ReviewStatus::Approved, "session") };
        *fixture.store.reviews.lock().expect("not poisoned") = vec![edited];
        let arguments = json!({"review_id": "copilot-node-x:01234567"});
        assert_eq!(fixture.call("continue_run_block", arguments).await["type"], kind);
    }
    assert!(fixture.runs().asked().is_empty());
}
