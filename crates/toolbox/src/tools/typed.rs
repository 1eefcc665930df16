//! Tools whose arguments are a Rust type: the schema is derived from the type, and arguments are deserialized into it.

use std::sync::Arc;

use async_trait::async_trait;
use ports::Tool;
use ports::tool::{OperationWords, ToolContext, ToolError, ToolExample};
use protocol::response::ToolResponse;
use protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tools::{ToolServices, arguments};

/// A tool with typed arguments. Doc comments on the arguments become descriptions that the model reads.
#[async_trait]
pub trait TypedTool: Send + Sync + 'static {
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// Everything but the parameters, which come from `Arguments`.
    fn spec() -> ToolSpec;

    async fn call(
        &self,
        arguments: Self::Arguments,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError>;

    /// Checks a call before it becomes an operation; see `Tool::begin_operation`.
    fn begin_operation(
        &self,
        _arguments: &Self::Arguments,
        _context: &ToolContext,
    ) -> Result<OperationWords, ToolError> {
        Ok(OperationWords::default())
    }

    fn examples() -> Vec<ToolExample>;
}

/// A tool before the services that it needs are known. Its spec exists even where the tool cannot run.
pub struct ToolDefinition {
    pub spec: ToolSpec,
    build: ToolBuilder,
}

type ToolBuilder = Box<dyn FnOnce(ToolSpec, &ToolServices) -> Option<Arc<dyn Tool>>>;

impl ToolDefinition {
    /// `build` returns `None` when a service that the tool needs is missing; the tool is left out then.
    pub fn new<T: TypedTool>(build: fn(&ToolServices) -> Option<T>) -> Self {
        let parameters = arguments::schema::<T::Arguments>();
        Self {
            spec: ToolSpec { parameters, ..T::spec() },
            build: Box::new(move |spec, services| {
                let tool = build(services)?;
                Some(Arc::new(TypedToolAdapter { spec, tool }))
            }),
        }
    }

    pub fn build(self, services: &ToolServices) -> Option<Arc<dyn Tool>> {
        (self.build)(self.spec, services)
    }
}

/// Adapts a `TypedTool` to `Tool`.
struct TypedToolAdapter<T> {
    spec: ToolSpec,
    tool: T,
}

#[async_trait]
impl<T: TypedTool> Tool for TypedToolAdapter<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        self.tool.call(arguments::parse(arguments)?, context).await
    }

    fn begin_operation(
        &self,
        arguments: &Value,
        context: &ToolContext,
    ) -> Result<OperationWords, ToolError> {
        self.tool.begin_operation(&arguments::parse(arguments.clone())?, context)
    }

    fn examples(&self) -> Vec<ToolExample> {
        T::examples()
    }
}
