//! `FileReadBlock`: reads a file as text, whole or in pieces.

use super::loader::FileLoader;
use crate::blocks::prelude::*;

/// Limit on the pieces of a file; more would overload the execution.
const MAX_PIECES: usize = 10_000;

#[derive(Deserialize, JsonSchema)]
struct FileReadInput {
    /// The file: a URL, a data URI or a workspace path.
    file_input: String,
    /// The text that separates rows, for example a newline. If empty, the file is one row.
    #[serde(default)]
    delimiter: String,
    /// The maximum number of characters per output. 0 outputs everything at once.
    #[serde(default)]
    size_limit: usize,
    /// The maximum number of rows to read. 0 reads all.
    #[serde(default)]
    row_limit: usize,
    /// The number of characters to skip at the start.
    #[serde(default)]
    skip_size: usize,
    /// The number of rows to skip, after skip_size.
    #[serde(default)]
    skip_rows: usize,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "3735a31f-7e18-4aca-9e90-08a7120674bc",
        "FileReadBlock",
        "Reads a file as text. Can skip the beginning, limit the rows and split the text into \
         pieces.",
    )
    .categories(&[BlockCategory::Text, BlockCategory::Data])
    .address_pins(&["file_input"])
    .outputs([pin::text("content", "The text, or each piece of it.")]);
    let file = "data:text/plain;base64,YQpiCmMKZA==";
    let examples = vec![
        BlockExample::exactly(
            json!({ "file_input": file }),
            vec![("content", json!("a\nb\nc\nd"))],
        ),
        BlockExample::exactly(
            json!({ "file_input": file, "delimiter": "\n", "skip_rows": 1, "row_limit": 2, "size_limit": 2 }),
            vec![("content", json!("b\n")), ("content", json!("c"))],
        ),
    ];
    vec![block(spec, examples, FileRead { loader: FileLoader::new(dependencies) })]
}

struct FileRead {
    loader: FileLoader,
}

#[async_trait]
impl TypedBlock for FileRead {
    type Input = FileReadInput;

    async fn run(
        &self,
        input: FileReadInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let text = self.loader.read(&input.file_input, &context).await?.text();
        let pieces = pieces(&select_rows(&text, &input), input.size_limit);
        if pieces.len() > MAX_PIECES {
            return Err(BlockError::failed(format!(
                "The file would be split into {} pieces, and the limit is {MAX_PIECES}. Increase size_limit.",
                pieces.len()
            )));
        }
        for piece in pieces {
            out.emit("content", Value::String(piece)).await?;
        }
        Ok(())
    }
}

fn select_rows(text: &str, input: &FileReadInput) -> String {
    let text = match text.char_indices().nth(input.skip_size) {
        Some((from, _)) => &text[from..],
        None => "",
    };
    if input.delimiter.is_empty() {
        return text.to_owned();
    }
    let limit = if input.row_limit == 0 { usize::MAX } else { input.row_limit };
    let rows = text.split(&input.delimiter).skip(input.skip_rows).take(limit);
    rows.collect::<Vec<_>>().join(&input.delimiter)
}

/// Splits the text by characters. An empty text gives one empty piece, so downstream nodes still run.
fn pieces(text: &str, size: usize) -> Vec<String> {
    if size == 0 || text.is_empty() {
        return vec![text.to_owned()];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(end, _)| end);
        pieces.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_measured_in_characters_and_keep_everything() {
        assert_eq!(pieces("äöüß!", 2), ["äö", "üß", "!"]);
        assert_eq!(pieces("abc", 0), ["abc"]);
        assert_eq!(pieces("", 3), [""]);
    }

    #[test]
    fn characters_are_skipped_before_rows() {
        let parse =
            |value: Value| -> FileReadInput { serde_json::from_value(value).expect("inputs") };
        let text = "xx1,2,3,4";
        for (input, meant) in [
            (json!({ "file_input": "" }), "xx1,2,3,4"),
            (json!({ "file_input": "", "skip_size": 2 }), "1,2,3,4"),
            (
                json!({ "file_input": "", "skip_size": 2, "delimiter": ",", "skip_rows": 1 }),
                "2,3,4",
            ),
            (json!({ "file_input": "", "delimiter": ",", "row_limit": 2 }), "xx1,2"),
            (json!({ "file_input": "", "skip_size": 99 }), ""),
        ] {
            assert_eq!(select_rows(text, &parse(input)), meant);
        }
    }
}
