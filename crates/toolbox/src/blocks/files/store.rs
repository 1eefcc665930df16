//! `FileStoreBlock`: stores a file in the workspace.

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::BlockDependencies;
use super::super::typed::{self, TypedBlock, TypedBlockAdapter};
use super::loader::FileLoader;

pub(super) struct FileStore {
    spec: BlockSpec,
    loader: FileLoader,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct FileStoreInput {
    /// The file: a URL, a data URI or a workspace path.
    file_in: String,
    /// Output the file as a data URI instead of its path.
    #[serde(default)]
    base_64: bool,
}

impl FileStore {
    pub(super) fn new(dependencies: &BlockDependencies) -> TypedBlockAdapter<Self> {
        let spec = BlockSpec {
            id: "cbb50872-625b-42f0-8203-a2ae78242d8a",
            name: "FileStoreBlock",
            description: "Stores a file in the workspace and returns its path, or the file as a data URI.",
            categories: &[BlockCategory::Basic, BlockCategory::Multimedia],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<FileStoreInput>(),
            outputs: typed::outputs([(
                "file_out",
                json!({ "type": "string", "format": "file", "description": "The workspace path or the data URI." }),
            )]),
            effect: ToolEffect::Idempotent,
            costs: &[],
            static_output: true,
            sensitive: false,
            coordinates: false,
        };
        TypedBlockAdapter(Self { spec, loader: FileLoader::new(dependencies) })
    }
}

#[async_trait]
impl TypedBlock for FileStore {
    type Input = FileStoreInput;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: FileStoreInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let file = match input.base_64 {
            true => self.loader.read(&input.file_in, &context).await?.data_uri(),
            false => self.loader.store(&input.file_in, &context).await?,
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
