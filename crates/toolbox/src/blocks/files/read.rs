//! `FileReadBlock`: a file as text, whole or in pieces.

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

/// Pieces that one run gives. More would flood the graph.
const PIECES: usize = 10_000;

pub(super) struct FileRead {
    spec: BlockSpec,
    media: Media,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The file: an address of the web, a data URI, or a path in the workspace.
    file_input: String,
    /// What stands between two rows, for example a line break. Without it the file is one row.
    #[serde(default)]
    delimiter: String,
    /// Characters in one piece of content; 0 gives everything in one.
    #[serde(default)]
    size_limit: usize,
    /// How many rows are read; 0 means all.
    #[serde(default)]
    row_limit: usize,
    /// Characters that are left out at the start.
    #[serde(default)]
    skip_size: usize,
    /// Rows that are left out at the start, after skip_size.
    #[serde(default)]
    skip_rows: usize,
}

impl FileRead {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "3735a31f-7e18-4aca-9e90-08a7120674bc",
            name: "FileReadBlock",
            description: "Reads a file as text. It can leave out a beginning, stop after a number of rows, and give \
                the text in pieces.",
            categories: &[BlockCategory::Text, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([typed::text(
                "content",
                "The text, or one piece of it after the other.",
            )]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, media: Media::new(parts) })
    }
}

#[async_trait]
impl TypedBlock for FileRead {
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
        let text = self.media.read(&given.file_input, &context).await?.text();
        let pieces = pieces(&wanted(&text, &given), given.size_limit);
        if pieces.len() > PIECES {
            return Err(BlockError::failed(format!(
                "The file would come in {} pieces; {PIECES} are allowed. Use a larger size_limit.",
                pieces.len()
            )));
        }
        for piece in pieces {
            out.emit("content", Value::String(piece)).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        let file = "data:text/plain;base64,YQpiCmMKZA==";
        vec![
            BlockExample::exactly(
                json!({ "file_input": file }),
                vec![("content", json!("a\nb\nc\nd"))],
            ),
            BlockExample::exactly(
                json!({ "file_input": file, "delimiter": "\n", "skip_rows": 1, "row_limit": 2, "size_limit": 2 }),
                vec![("content", json!("b\n")), ("content", json!("c"))],
            ),
        ]
    }
}

fn wanted(text: &str, given: &Given) -> String {
    let text = match text.char_indices().nth(given.skip_size) {
        Some((from, _)) => &text[from..],
        None => "",
    };
    if given.delimiter.is_empty() {
        return text.to_owned();
    }
    let limit = if given.row_limit == 0 { usize::MAX } else { given.row_limit };
    let rows = text.split(&given.delimiter).skip(given.skip_rows).take(limit);
    rows.collect::<Vec<_>>().join(&given.delimiter)
}

/// An empty text is one empty piece, so that what comes next learns of it.
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
    fn pieces_are_counted_in_characters_and_lose_nothing() {
        assert_eq!(pieces("äöüß!", 2), ["äö", "üß", "!"]);
        assert_eq!(pieces("abc", 0), ["abc"]);
        assert_eq!(pieces("", 3), [""]);
    }

    #[test]
    fn the_beginning_is_left_out_by_characters_then_by_rows() {
        let given = |value: Value| -> Given { serde_json::from_value(value).expect("inputs") };
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
            assert_eq!(wanted(text, &given(input)), meant);
        }
    }
}
