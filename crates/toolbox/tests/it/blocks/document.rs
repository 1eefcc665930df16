//! `docs/guide/blocks.md` lists every block. It is made here: `make gen` writes it, and this test fails if it is stale.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use protocol::block::BlockDescription;
use serde_json::Value;

use super::all;

const INTRODUCTION: &str = "# Blocks

<!-- Made from the specs of the blocks by `make gen`. Do not edit. -->

The blocks of this server, by category. An input in **bold** is required: a node does not fire without it. Every block \
except agent inputs and outputs also has the output `error`, which emits a message if the block fails. `GET /api/blocks` \
returns the full schemas, and the copilot finds and runs single blocks with `find_block` and `run_block`. \
[Agents](agents.md) describes how blocks work together.
";

#[expect(clippy::disallowed_methods, reason = "`make gen` asks this test to write the page")]
#[test]
fn the_list_of_blocks_in_the_guide_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/blocks.md");
    let wanted = document();
    if std::env::var_os("WRITE_DOCUMENTS").is_some() {
        std::fs::write(&path, &wanted).expect("the page is written");
    }
    let page = std::fs::read_to_string(&path).expect("the page");
    assert!(page == wanted, "docs/guide/blocks.md is stale. Run `make gen`.");
}

fn document() -> String {
    let mut categories: BTreeMap<String, Vec<BlockDescription>> = BTreeMap::new();
    for block in all() {
        let described = block.spec().describe();
        // A block is listed once, in its first category.
        let category = described.categories.first().expect("a category");
        let word = serde_json::to_value(category.category).expect("a word");
        let heading = format!("{}\n\n{}", title(&word), category.description);
        categories.entry(heading).or_default().push(described);
    }
    let mut page = INTRODUCTION.to_owned();
    for (heading, mut blocks) in categories {
        blocks.sort_by_key(|block| block.name);
        write!(page, "\n## {heading}\n\n| block | does | inputs | outputs |\n|---|---|---|---|\n")
            .expect("a string");
        for block in blocks {
            let (inputs, outputs) = (inputs(&block.input_schema), outputs(&block.output_schema));
            let description = block.description.replace('|', "\\|");
            writeln!(page, "| `{}` | {description} | {inputs} | {outputs} |", block.name)
                .expect("a string");
        }
    }
    page
}

/// `DEVELOPER_TOOLS` as `Developer tools`, and `AI` as it is.
fn title(category: &Value) -> String {
    let word = category.as_str().expect("a word").replace('_', " ");
    let short = word.len() <= 2;
    let (first, rest) = word.split_at(1);
    if short { word } else { format!("{first}{}", rest.to_lowercase()) }
}

fn inputs(schema: &Value) -> String {
    let required = |pin: &str| {
        let names = schema["required"].as_array().into_iter().flatten();
        names.into_iter().any(|name| name == pin)
    };
    let shown = |pin: &String| match required(pin) {
        true => format!("**`{pin}`**"),
        false => format!("`{pin}`"),
    };
    pins(schema, shown)
}

fn outputs(schema: &Value) -> String {
    pins(schema, |pin| if pin == "error" { String::new() } else { format!("`{pin}`") })
}

fn pins(schema: &Value, shown: impl Fn(&String) -> String) -> String {
    let pins = schema["properties"].as_object().into_iter().flatten().map(|(pin, _)| shown(pin));
    let mut pins: Vec<String> = pins.filter(|pin| !pin.is_empty()).collect();
    if schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false)) {
        pins.push(if pins.is_empty() { "any" } else { "any other" }.to_owned());
    }
    pins.join(", ")
}
