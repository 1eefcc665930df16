//! `ReadSpreadsheetBlock`: parses CSV into rows.

use csv::{ReaderBuilder, StringRecord};

use super::loader::{FILE_BYTES, FileLoader};
use crate::blocks::prelude::*;

const MAX_ROWS: usize = 100_000;

#[derive(Deserialize, JsonSchema)]
struct ReadSpreadsheetInput {
    /// The table as text. Set this or file_input.
    #[serde(default)]
    contents: Option<String>,
    /// The table as a file: a URL, a data URI or a workspace path.
    #[serde(default)]
    file_input: Option<String>,
    /// The character that separates values.
    #[serde(default = "comma")]
    delimiter: String,
    /// The character that quotes values containing the delimiter.
    #[serde(default = "quote")]
    quotechar: String,
    /// The character that escapes a quote.
    #[serde(default = "backslash")]
    escapechar: String,
    /// Use the first row as column names. Otherwise columns are named 0, 1, 2 and so on.
    #[serde(default = "yes")]
    has_header: bool,
    /// The number of rows to skip after the header.
    #[serde(default)]
    skip_rows: usize,
    /// Trim whitespace around values.
    #[serde(default = "yes")]
    strip: bool,
    /// The columns to leave out, by name or number.
    #[serde(default)]
    skip_columns: Vec<String>,
    /// Output rows one at a time instead of all at once.
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

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "acf7625e-d2cb-4941-bfeb-2819fc6fc015",
        "ReadSpreadsheetBlock",
        "Reads a CSV table (or similar) and returns its rows, with values by column name.",
    )
    .categories(&[BlockCategory::Text, BlockCategory::Data])
    .address_pins(&["file_input"])
    .outputs([
        pin::object("row", "Each row, emitted one at a time, with values by column name."),
        pin::list("rows", "All rows, as a list."),
    ]);
    let contents = "a, b\n1,\"2,5\"\n3,4";
    let (first, second) = (json!({ "a": "1", "b": "2,5" }), json!({ "a": "3", "b": "4" }));
    let examples = vec![
        BlockExample::exactly(
            json!({ "contents": contents }),
            vec![("rows", json!([first, second]))],
        ),
        BlockExample::exactly(
            json!({ "contents": contents, "produce_singular_result": true }),
            vec![("row", first), ("row", second)],
        ),
    ];
    vec![block(spec, examples, ReadSpreadsheet { loader: FileLoader::new(dependencies) })]
}

struct ReadSpreadsheet {
    loader: FileLoader,
}

impl ReadSpreadsheet {
    async fn table(
        &self,
        input: &ReadSpreadsheetInput,
        context: &BlockContext,
    ) -> Result<String, BlockError> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(file) = filled(&input.file_input) {
            let file = self.loader.read(&file, context).await?;
            // Magic bytes of the xlsx (ZIP) and xls (OLE) containers.
            if file.bytes.starts_with(b"PK\x03\x04") || file.bytes.starts_with(b"\xd0\xcf\x11\xe0")
            {
                return Err(BlockError::failed(
                    "Excel workbooks are not supported. Save the file as CSV first.",
                ));
            }
            return Ok(file.text());
        }
        match filled(&input.contents) {
            Some(contents) if contents.len() > FILE_BYTES => Err(BlockError::failed(format!(
                "The table is larger than the limit of {FILE_BYTES} bytes."
            ))),
            Some(contents) => Ok(contents),
            None => Err(BlockError::failed("Set contents or file_input.")),
        }
    }
}

#[async_trait]
impl TypedBlock for ReadSpreadsheet {
    type Input = ReadSpreadsheetInput;

    async fn run(
        &self,
        input: ReadSpreadsheetInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let table = self.table(&input, &context).await?;
        let rows = rows(&table, &input).map_err(BlockError::Failed)?;
        if !input.produce_singular_result {
            return out.emit("rows", Value::Array(rows)).await;
        }
        for row in rows {
            out.emit("row", row).await?;
        }
        Ok(())
    }
}

fn rows(table: &str, input: &ReadSpreadsheetInput) -> Result<Vec<Value>, String> {
    let mut reader = ReaderBuilder::new()
        .delimiter(one_byte(&input.delimiter, "delimiter")?)
        .quote(one_byte(&input.quotechar, "quotechar")?)
        .escape(match input.escapechar.as_str() {
            "" => None,
            escape => Some(one_byte(escape, "escapechar")?),
        })
        .has_headers(false)
        .flexible(true)
        .from_reader(table.as_bytes());
    let mut records = reader.records();
    let mut header = StringRecord::new();
    if input.has_header {
        header =
            records.next().transpose().map_err(|error| parse_error(&error))?.unwrap_or_default();
    }
    let mut rows = Vec::new();
    for record in records.skip(input.skip_rows) {
        if rows.len() == MAX_ROWS {
            return Err(format!("The table has more than the limit of {MAX_ROWS} rows."));
        }
        rows.push(row(&record.map_err(|error| parse_error(&error))?, &header, input));
    }
    Ok(rows)
}

fn row(record: &StringRecord, header: &StringRecord, input: &ReadSpreadsheetInput) -> Value {
    let mut row = Map::new();
    for (at, value) in record.iter().enumerate() {
        let number = at.to_string();
        let name = header.get(at).map_or(number.as_str(), |name| trimmed(name, input));
        if !input.skip_columns.iter().any(|skipped| skipped == name || *skipped == number) {
            row.insert(name.to_owned(), Value::String(trimmed(value, input).to_owned()));
        }
    }
    Value::Object(row)
}

fn trimmed<'a>(text: &'a str, input: &ReadSpreadsheetInput) -> &'a str {
    if input.strip { text.trim() } else { text }
}

fn one_byte(text: &str, pin: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        // A tab is often entered in its escaped form.
        b"\\t" => Ok(b'\t'),
        _ => Err(format!("{pin} must be a single ASCII character.")),
    }
}

fn parse_error(error: &csv::Error) -> String {
    match error.position() {
        Some(position) => format!("The table could not be parsed at line {}.", position.line()),
        None => "The table could not be parsed.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: &str, more: Value) -> Result<Vec<Value>, String> {
        rows(table, &serde_json::from_value(more).expect("inputs"))
    }

    #[test]
    fn tables_are_parsed_with_every_option() {
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
    fn a_delimiter_must_be_one_character() {
        assert!(read("a", json!({ "delimiter": "" })).is_err());
        assert!(read("a", json!({ "delimiter": ";;" })).is_err());
    }
}
