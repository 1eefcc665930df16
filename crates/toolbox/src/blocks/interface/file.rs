//! `AgentFileInputBlock`: emits a file's workspace path or its content as a data URI.

use super::input::{input_schema, input_spec};
use crate::blocks::files::FileLoader;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct FileInputValues {
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    base_64: bool,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let result = json!({
        "type": "string", "format": "file", "description": "The workspace path or the data URI.",
    });
    let spec = input_spec(
        "95ead23f-8283-4654-aef3-10c053b74a31",
        "AgentFileInputBlock",
        "Input of a file. Emits its workspace path, or its content as a data URI.",
    )
    .interface_outputs([("result", result)])
    .address_pins(&["value"])
    .effect(ToolEffect::Idempotent);
    let data = json!("data:text/plain;base64,SGVsbG8=");
    let examples = vec![
        BlockExample::exactly(
            json!({ "name": "letter", "value": data, "base_64": true }),
            vec![("result", data)],
        ),
        BlockExample::exactly(json!({ "name": "letter" }), vec![]),
    ];
    vec![block(spec, examples, AgentFileInput { loader: FileLoader::new(dependencies) })]
}

struct AgentFileInput {
    loader: FileLoader,
}

#[async_trait]
impl TypedBlock for AgentFileInput {
    type Input = FileInputValues;

    async fn run(
        &self,
        input: FileInputValues,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let Some(file) = input.value.filter(|file| !file.is_empty()) else { return Ok(()) };
        let result = self.loader.path_or_data(&file, input.base_64, &context).await?;
        out.emit("result", Value::String(result)).await
    }

    fn inputs(&self) -> Value {
        let value = json!({
            "type": ["string", "null"], "format": "file", "default": null,
            "description": "The file: a URL, a data URI or a workspace path.",
        });
        let base_64 = json!({
            "type": "boolean", "default": false,
            "description": "Output the file as a data URI instead of its path.",
        });
        input_schema(&value, &[("base_64", base_64)])
    }
}
