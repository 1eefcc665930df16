//! Checks one block against its spec and its examples. Also used by the test of the sample block in CONTRIBUTING.md.

use std::mem::discriminant;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ports::Block;
use ports::block::{
    BlockContext, BlockError, BlockExample, BlockServices, ChildAgent, ChildAgents, CopilotAnswer,
    CopilotAsk, CopilotTurns, ExampleMatch, OutputSink, UsageMeter,
};
use protocol::block::BlockSpec;
use protocol::permissions::Permissions;
use protocol::{SessionId, UserId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Checks every example, and returns how many there are.
pub(crate) async fn assert_examples(block: &dyn Block) -> usize {
    let (spec, examples) = (block.spec(), block.examples());
    let schema = jsonschema::validator_for(&spec.inputs).expect("a valid schema");
    for BlockExample { input, outputs, matching } in &examples {
        assert!(schema.is_valid(input), "{} rejects {input}", spec.name);
        let emitted = run(block, input.clone(), context()).await;
        let emitted = emitted.unwrap_or_else(|error| panic!("{} {input}: {error}", spec.name));
        let emitted: Vec<(&str, Value)> =
            emitted.iter().map(|(pin, value)| (pin.as_str(), value.clone())).collect();
        match matching {
            ExampleMatch::Exactly => assert_eq!(&emitted, outputs, "{} {input}", spec.name),
            ExampleMatch::Shape => assert_same_shape(spec, &emitted, outputs),
        }
        for (pin, value) in &emitted {
            assert_fits(spec, pin, value);
        }
    }
    examples.len()
}

/// Checks that the block and its pins are described, and that its schemas need no references.
pub(crate) fn assert_described(block: &dyn Block) {
    let spec = block.spec();
    assert!(spec.description.ends_with('.'), "{}: {}", spec.name, spec.description);
    assert!(!spec.categories.is_empty(), "{} is in no category", spec.name);
    for (side, schema) in [("input", &spec.inputs), ("output", &spec.outputs)] {
        jsonschema::validator_for(schema).expect("a valid schema");
        assert_eq!(schema["type"], "object", "{} {side}", spec.name);
        let pins = schema["properties"].as_object().into_iter().flatten();
        for (pin, schema) in pins {
            assert!(schema["description"].is_string(), "{}: {side} `{pin}`", spec.name);
        }
        let text = schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("$defs"), "{}: {text}", spec.name);
    }
    for pin in spec.required() {
        assert!(spec.input(pin).is_some(), "{} requires `{pin}`", spec.name);
    }
}

fn assert_same_shape(spec: &BlockSpec, emitted: &[(&str, Value)], wanted: &[(&str, Value)]) {
    let shape = |outputs: &[(&str, Value)]| -> Vec<_> {
        outputs.iter().map(|(pin, value)| ((*pin).to_owned(), discriminant(value))).collect()
    };
    assert_eq!(shape(emitted), shape(wanted), "{}: {emitted:?}", spec.name);
}

/// A block that takes any input may also emit any output.
fn assert_fits(spec: &BlockSpec, pin: &str, value: &Value) {
    let Some(schema) = spec.output(pin) else {
        assert!(spec.takes_any_input(), "{} does not declare `{pin}`", spec.name);
        return;
    };
    let schema = jsonschema::validator_for(schema).expect("a valid schema");
    assert!(schema.is_valid(value), "{}.{pin} does not match its schema: {value}", spec.name);
}

/// The emitted outputs, in order.
pub(crate) async fn run(
    block: &dyn Block,
    input: Value,
    context: BlockContext,
) -> Result<Vec<(String, Value)>, BlockError> {
    let Value::Object(input) = input else { panic!("{input} is not an object") };
    let out = Collected::default();
    block.run(input, context, &out).await?;
    Ok(out.0.into_inner().expect("the lock is not poisoned"))
}

#[derive(Default)]
pub(crate) struct Collected(pub(crate) Mutex<Vec<(String, Value)>>);

#[async_trait]
impl OutputSink for Collected {
    async fn emit(&self, pin: &str, value: Value) -> Result<(), BlockError> {
        self.0.lock().expect("the lock is not poisoned").push((pin.to_owned(), value));
        Ok(())
    }
}

pub(crate) fn context() -> BlockContext {
    BlockContext {
        user: UserId::from("tester"),
        node: None,
        session: Some(SessionId::from("session")),
        idempotency_key: "run".to_owned(),
        dry_run: false,
        cancel: CancellationToken::new(),
        permissions: Permissions::default(),
        decision: None,
        ask_first: false,
        meter: Arc::new(UsageMeter::default()),
        tools: [].into(),
        services: BlockServices { agents: Arc::new(NoServices), copilot: Arc::new(NoServices) },
    }
}

/// An engine without agents and without a copilot.
struct NoServices;

#[async_trait]
impl ChildAgents for NoServices {
    async fn run(&self, _: ChildAgent) -> Result<Vec<(String, Value)>, BlockError> {
        Err(BlockError::failed("There are no agents."))
    }
}

#[async_trait]
impl CopilotTurns for NoServices {
    async fn ask(&self, _: CopilotAsk) -> Result<CopilotAnswer, BlockError> {
        Err(BlockError::failed("There is no copilot."))
    }
}
