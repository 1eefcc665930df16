//! `FileStoreBlock`: puts a file into the workspace, for the blocks after it.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Parts;
use super::super::typed::{self, Typed, TypedBlock};
use super::media::Media;

pub(super) struct FileStore {
    spec: BlockSpec,
    media: Media,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The file: an address of the web, a data URI, or a path in the workspace.
    file_in: String,
    /// Give the file itself as a data URI instead of its path.
    #[serde(default)]
    base_64: bool,
}

impl FileStore {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "cbb50872-625b-42f0-8203-a2ae78242d8a",
            name: "FileStoreBlock",
            description: "Keeps a file in the workspace of the run and gives its path, or the file as a data URI.",
            categories: &[BlockCategory::Basic, BlockCategory::Multimedia],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([(
                "file_out",
                json!({ "type": "string", "format": "file", "description": "The path or the data URI." }),
            )]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, media: Media::new(parts) })
    }
}

#[async_trait]
impl TypedBlock for FileStore {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let file = match given.base_64 {
            true => self.media.read(&given.file_in, &context).await?.data_uri(),
            false => self.media.store(&given.file_in, &context).await?,
        };
        out.emit("file_out", Value::String(file)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let data = json!("data:text/plain;base64,SGVsbG8=");
        vec![
            BlockExample::exactly(
                json!({ "file_in": data, "base_64": true }),
                vec![("file_out", data.clone())],
            ),
            BlockExample::exactly(
                json!({ "file_in": data }),
                vec![("file_out", json!("files/185f8db32271-file.txt"))],
            ),
        ]
    }
}
