//! `AgentFileInputBlock`: emits a file's workspace path or its content as a data URI.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::BlockDependencies;
use super::super::files::FileLoader;
use super::input;

pub(super) struct AgentFileInputBlock {
    spec: BlockSpec,
    loader: FileLoader,
}

#[derive(Deserialize)]
struct FileInputValues {
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    base_64: bool,
}

impl AgentFileInputBlock {
    pub(super) fn new(dependencies: &BlockDependencies) -> Self {
        let value = json!({
            "type": ["string", "null"], "format": "file", "default": null,
            "description": "The file: a URL, a data URI or a workspace path.",
        });
        let base_64 = json!({
            "type": "boolean", "default": false,
            "description": "Output the file as a data URI instead of its path.",
        });
        let spec = BlockSpec {
            id: "95ead23f-8283-4654-aef3-10c053b74a31",
            name: "AgentFileInputBlock",
            description: "Input of a file. Emits its workspace path, or its content as a data URI.",
            categories: &[BlockCategory::Input, BlockCategory::Basic],
            kind: BlockKind::Input,
            inputs: input::schema(value, vec![("base_64", base_64)]),
            outputs: json!({
                "type": "object",
                "properties": { "result": { "type": "string", "description": "The workspace path or the data URI." } },
            }),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Self { spec, loader: FileLoader::new(dependencies) }
    }
}

#[async_trait]
impl ports::Block for AgentFileInputBlock {
    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: Map<String, Value>,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let input: FileInputValues = serde_json::from_value(Value::Object(input))
            .map_err(|error| BlockError::failed(format!("Invalid input: {error}.")))?;
        let Some(file) = input.value.filter(|file| !file.is_empty()) else { return Ok(()) };
        let result = match input.base_64 {
            true => self.loader.read(&file, &context).await?.data_uri(),
            false => self.loader.store(&file, &context).await?,
        };
        out.emit("result", Value::String(result)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let data = json!("data:text/plain;base64,SGVsbG8=");
        vec![
            BlockExample::exactly(
                json!({ "name": "letter", "value": data, "base_64": true }),
                vec![("result", data)],
            ),
            BlockExample::exactly(json!({ "name": "letter" }), vec![]),
        ]
    }
}
