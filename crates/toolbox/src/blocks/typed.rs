//! A block from its parts: the spec, the examples, and a run with typed inputs. The schema of the inputs is derived from
//! their type, and inputs are deserialized into it.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use ports::Block;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::BlockSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// What the `blocks` function of a block file returns.
pub(crate) type BlockList = Vec<Arc<dyn Block>>;

/// The run of a block. `#[serde(default)]` fields of its input are optional; doc comments become descriptions that users
/// and models read.
#[async_trait]
pub(crate) trait TypedBlock: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;

    async fn run(
        &self,
        input: Self::Input,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError>;

    /// The JSON schema of the inputs, for blocks whose schema has more than their type says.
    fn inputs(&self) -> Value {
        inputs::<Self::Input>()
    }
}

/// Puts a block together. The inputs of the spec come from the type of the run.
pub(crate) fn block(
    spec: BlockSpec,
    examples: Vec<BlockExample>,
    run: impl TypedBlock,
) -> Arc<dyn Block> {
    let spec = BlockSpec { inputs: run.inputs(), ..spec };
    Arc::new(AssembledBlock { spec, examples, run })
}

struct AssembledBlock<B> {
    spec: BlockSpec,
    examples: Vec<BlockExample>,
    run: B,
}

#[async_trait]
impl<B: TypedBlock> Block for AssembledBlock<B> {
    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: Map<String, Value>,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let input = serde_json::from_value(Value::Object(input))
            .map_err(|error| BlockError::failed(format!("Invalid input: {error}.")))?;
        self.run.run(input, context, out).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        self.examples.clone()
    }
}

/// Values with their output pins, in the order they are emitted.
pub(crate) type PinValues = Vec<(&'static str, Value)>;

/// The run of a pure block: a synchronous function from inputs to outputs, without side effects.
pub(crate) struct Pure<I>(pub(crate) fn(I) -> Result<PinValues, BlockError>);

#[async_trait]
impl<I: DeserializeOwned + JsonSchema + Send + 'static> TypedBlock for Pure<I> {
    type Input = I;

    async fn run(&self, input: I, _: BlockContext, out: &dyn OutputSink) -> Result<(), BlockError> {
        emit_all((self.0)(input)?, out).await
    }
}

/// The run of a block that waits for services of its context: an asynchronous function from inputs to outputs.
pub(crate) struct Async<I, F> {
    run: F,
    input: PhantomData<fn(I)>,
}

impl<I, F> Async<I, F> {
    pub(crate) fn new<R>(run: F) -> Self
    where
        F: Fn(I, BlockContext) -> R,
    {
        Self { run, input: PhantomData }
    }
}

#[async_trait]
impl<I, F, R, P> TypedBlock for Async<I, F>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(I, BlockContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<(P, Value)>, BlockError>> + Send,
    P: AsRef<str> + Send,
{
    type Input = I;

    async fn run(
        &self,
        input: I,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        emit_all((self.run)(input, context).await?, out).await
    }
}

async fn emit_all<P: AsRef<str> + Send>(
    values: Vec<(P, Value)>,
    out: &dyn OutputSink,
) -> Result<(), BlockError> {
    for (pin, value) in values {
        out.emit(pin.as_ref(), value).await?;
    }
    Ok(())
}

/// The JSON schema of an input type, without references. The name of the Rust type is not part of it.
pub(crate) fn inputs<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    serde_json::to_value(schema).unwrap_or_else(|_| json!({ "type": "object" }))
}
