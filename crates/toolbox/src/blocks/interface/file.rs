//! The input block for files: gives where the file lies in the workspace, or the file itself.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::Parts;
use super::super::files::Media;
use super::input;

pub(super) struct AgentFileInput {
    spec: BlockSpec,
    media: Media,
}

#[derive(Deserialize)]
struct Given {
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    base_64: bool,
}

impl AgentFileInput {
    pub(super) fn new(parts: &Parts) -> Self {
        let value = json!({
            "type": ["string", "null"], "format": "file", "default": null,
            "description": "The file: an address of the web, a data URI, or a path in the workspace.",
        });
        let base_64 = json!({
            "type": "boolean", "default": false,
            "description": "Give the file itself as a data URI instead of its path.",
        });
        let spec = BlockSpec {
            id: "95ead23f-8283-4654-aef3-10c053b74a31",
            name: "AgentFileInputBlock",
            description: "Gives a file that the agent is started with: its path in the workspace, or its content as a \
                data URI.",
            categories: &[BlockCategory::Input, BlockCategory::Basic],
            kind: BlockKind::Input,
            inputs: input::schema(value, vec![("base_64", base_64)]),
            outputs: json!({
                "type": "object",
                "properties": { "result": { "type": "string", "description": "The path or the data URI." } },
            }),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Self { spec, media: Media::new(parts) }
    }
}

#[async_trait]
impl ports::Block for AgentFileInput {
    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: Map<String, Value>,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let given: Given = serde_json::from_value(Value::Object(input))
            .map_err(|error| BlockError::failed(format!("The input does not fit: {error}.")))?;
        let Some(file) = given.value.filter(|file| !file.is_empty()) else { return Ok(()) };
        let result = match given.base_64 {
            true => self.media.read(&file, &context).await?.data_uri(),
            false => self.media.store(&file, &context).await?,
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
