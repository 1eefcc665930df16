//! `FileStoreBlock`: stores a file in the workspace.

use super::loader::FileLoader;
use crate::blocks::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct FileStoreInput {
    /// The file: a URL, a data URI or a workspace path.
    file_in: String,
    /// Output the file as a data URI instead of its path.
    #[serde(default)]
    base_64: bool,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let file_out = json!({
        "type": "string", "format": "file", "description": "The workspace path or the data URI.",
    });
    let spec = BlockSpec::new(
        "cbb50872-625b-42f0-8203-a2ae78242d8a",
        "FileStoreBlock",
        "Stores a file in the workspace and returns its path, or the file as a data URI.",
    )
    .categories(&[BlockCategory::Basic, BlockCategory::Multimedia])
    .outputs([("file_out", file_out)])
    .effect(ToolEffect::Idempotent)
    .static_output();
    let data = json!("data:text/plain;base64,SGVsbG8=");
    let examples = vec![
        BlockExample::exactly(
            json!({ "file_in": data, "base_64": true }),
            vec![("file_out", data.clone())],
        ),
        BlockExample::exactly(
            json!({ "file_in": data }),
            vec![("file_out", json!("files/185f8db32271-file.txt"))],
        ),
    ];
    vec![block(spec, examples, FileStore { loader: FileLoader::new(dependencies) })]
}

struct FileStore {
    loader: FileLoader,
}

#[async_trait]
impl TypedBlock for FileStore {
    type Input = FileStoreInput;

    async fn run(
        &self,
        input: FileStoreInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let file = self.loader.path_or_data(&input.file_in, input.base_64, &context).await?;
        out.emit("file_out", Value::String(file)).await
    }
}
