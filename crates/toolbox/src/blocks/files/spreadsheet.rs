//! `ReadSpreadsheetBlock`: a table of separated values, row by row.

use async_trait::async_trait;
use csv::{ReaderBuilder, StringRecord};
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::Parts;
use super::super::typed::{self, Typed, TypedBlock};
use super::media::{FILE_BYTES, Media};

const ROWS: usize = 100_000;

pub(super) struct ReadSpreadsheet {
    spec: BlockSpec,
    media: Media,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The table itself; give this or file_input.
    #[serde(default)]
    contents: Option<String>,
    /// A file with the table: an address of the web, a data URI, or a path in the workspace.
    #[serde(default)]
    file_input: Option<String>,
    /// The character between two values.
    #[serde(default = "comma")]
    delimiter: String,
    /// The character around values that contain the delimiter.
    #[serde(default = "quote")]
    quotechar: String,
    /// The character before a quote that is meant as such.
    #[serde(default = "backslash")]
    escapechar: String,
    /// Whether the first row names the columns. Otherwise they are called 0, 1, 2.
    #[serde(default = "yes")]
    has_header: bool,
    /// Rows that are left out after the header.
    #[serde(default)]
    skip_rows: usize,
    /// Whether space around values is removed.
    #[serde(default = "yes")]
    strip: bool,
    /// Columns that are left out, by name or number.
    #[serde(default)]
    skip_columns: Vec<String>,
    /// Give one row after the other instead of all rows at once.
    #[serde(default)]
    produce_singular_result: bool,
}

fn comma() -> String {
    ",".to_owned()
}

fn quote() -> String {
    "\"".to_owned()
}

fn backslash() -> String {
    "\\".to_owned()
}

fn yes() -> bool {
    true
}

impl ReadSpreadsheet {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "acf7625e-d2cb-4941-bfeb-2819fc6fc015",
            name: "ReadSpreadsheetBlock",
            description: "Reads a table of separated values (CSV and its relatives) and gives its rows, each with its \
                columns by name.",
            categories: &[BlockCategory::Text, BlockCategory::Data],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([
                typed::object("row", "One row after the other, by the names of its columns."),
                typed::list("rows", "All rows."),
            ]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, media: Media::new(parts) })
    }

    async fn table(&self, given: &Given, context: &BlockContext) -> Result<String, BlockError> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(file) = filled(&given.file_input) {
            let file = self.media.read(&file, context).await?;
            // Both kinds of workbook begin with the marks of their container.
            if file.bytes.starts_with(b"PK\x03\x04") || file.bytes.starts_with(b"\xd0\xcf\x11\xe0")
            {
                return Err(BlockError::failed(
                    "The file is a workbook of a spreadsheet program. Save it as CSV first.",
                ));
            }
            return Ok(file.text());
        }
        match filled(&given.contents) {
            Some(contents) if contents.len() > FILE_BYTES => {
                Err(BlockError::failed(format!("The table is larger than {FILE_BYTES} bytes.")))
            }
            Some(contents) => Ok(contents),
            None => Err(BlockError::failed("Give the table in contents or in file_input.")),
        }
    }
}

#[async_trait]
impl TypedBlock for ReadSpreadsheet {
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
        let table = self.table(&given, &context).await?;
        let rows = rows(&table, &given).map_err(BlockError::Failed)?;
        if !given.produce_singular_result {
            return out.emit("rows", Value::Array(rows)).await;
        }
        for row in rows {
            out.emit("row", row).await?;
        }
        Ok(())
    }

    fn examples(&self) -> Vec<BlockExample> {
        let contents = "a, b\n1,\"2,5\"\n3,4";
        let (first, second) = (json!({ "a": "1", "b": "2,5" }), json!({ "a": "3", "b": "4" }));
        vec![
            BlockExample::exactly(
                json!({ "contents": contents }),
                vec![("rows", json!([first, second]))],
            ),
            BlockExample::exactly(
                json!({ "contents": contents, "produce_singular_result": true }),
                vec![("row", first), ("row", second)],
            ),
        ]
    }
}

fn rows(table: &str, given: &Given) -> Result<Vec<Value>, String> {
    let mut reader = ReaderBuilder::new()
        .delimiter(one_byte(&given.delimiter, "delimiter")?)
        .quote(one_byte(&given.quotechar, "quotechar")?)
        .escape(match given.escapechar.as_str() {
            "" => None,
            escape => Some(one_byte(escape, "escapechar")?),
        })
        .has_headers(false)
        .flexible(true)
        .from_reader(table.as_bytes());
    let mut records = reader.records();
    let mut header = StringRecord::new();
    if given.has_header {
        header = records.next().transpose().map_err(|error| broken(&error))?.unwrap_or_default();
    }
    let mut rows = Vec::new();
    for record in records.skip(given.skip_rows) {
        if rows.len() == ROWS {
            return Err(format!("The table has more than {ROWS} rows."));
        }
        rows.push(row(&record.map_err(|error| broken(&error))?, &header, given));
    }
    Ok(rows)
}

fn row(record: &StringRecord, header: &StringRecord, given: &Given) -> Value {
    let mut row = Map::new();
    for (at, value) in record.iter().enumerate() {
        let number = at.to_string();
        let name = header.get(at).map_or(number.as_str(), |name| shown(name, given));
        if !given.skip_columns.iter().any(|skipped| skipped == name || *skipped == number) {
            row.insert(name.to_owned(), Value::String(shown(value, given).to_owned()));
        }
    }
    Value::Object(row)
}

fn shown<'a>(text: &'a str, given: &Given) -> &'a str {
    if given.strip { text.trim() } else { text }
}

fn one_byte(text: &str, pin: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        // A tab is often written as it is escaped.
        b"\\t" => Ok(b'\t'),
        _ => Err(format!("{pin} has to be one plain character.")),
    }
}

fn broken(error: &csv::Error) -> String {
    match error.position() {
        Some(position) => format!("The table cannot be read at line {}.", position.line()),
        None => "The table cannot be read.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: &str, more: Value) -> Result<Vec<Value>, String> {
        rows(table, &serde_json::from_value(more).expect("inputs"))
    }

    #[test]
    fn tables_are_read_in_all_their_dialects() {
        for (table, more, meant) in [
            ("a,b\n1,2", json!({}), json!([{ "a": "1", "b": "2" }])),
            (
                "a,b\n1,2",
                json!({ "has_header": false }),
                json!([{"0": "a", "1": "b"}, {"0": "1", "1": "2"}]),
            ),
            ("a\tb\n1\t2", json!({ "delimiter": "\\t" }), json!([{ "a": "1", "b": "2" }])),
            ("a,b\nx,x\n1,2", json!({ "skip_rows": 1 }), json!([{ "a": "1", "b": "2" }])),
            ("a,b\n1,2", json!({ "skip_columns": ["b"] }), json!([{ "a": "1" }])),
            ("a,b\n1,2", json!({ "skip_columns": ["0"] }), json!([{ "b": "2" }])),
            ("a,b\n1", json!({}), json!([{ "a": "1" }])),
            ("a\n1,2", json!({}), json!([{ "a": "1", "1": "2" }])),
            ("a\n 1 ", json!({ "strip": false }), json!([{ "a": " 1 " }])),
            ("a\n\"x \\\"y\\\"\"", json!({}), json!([{ "a": "x \"y\"" }])),
        ] {
            assert_eq!(read(table, more.clone()).map(Value::Array), Ok(meant), "{table} {more}");
        }
    }

    #[test]
    fn a_delimiter_is_one_character() {
        assert!(read("a", json!({ "delimiter": "" })).is_err());
        assert!(read("a", json!({ "delimiter": ";;" })).is_err());
    }
}
