//! How agents are built: a text for models, with the blocks of this server.

use std::fmt::Write;

use graphs::catalog::block_title;
use protocol::block::{BlockKind, BlockSpec};
use serde_json::Value;

use crate::tools::block_choice::BlockCatalog;

const GUIDE: &str = include_str!("agent_building_guide.md");
/// Sections for a model that has the tools. The others describe the spec itself.
const TOOL_SECTIONS: [&str; 3] = ["Before you build", "Create, check, repair", "Edit"];

/// For a model that builds agents by calling tools.
pub(crate) fn for_tools(blocks: &BlockCatalog) -> String {
    format!("{GUIDE}\n{}", block_list(blocks))
}

/// For a model that writes a spec and has no tools.
pub(crate) fn for_writers(blocks: &BlockCatalog) -> String {
    let is_about_tools =
        |section: &str| TOOL_SECTIONS.iter().any(|title| section.lines().next() == Some(*title));
    let sections: Vec<&str> =
        GUIDE.split("\n## ").filter(|section| !is_about_tools(section)).collect();
    format!("{}\n{}", sections.join("\n## "), block_list(blocks))
}

/// Every block with its pins, a line each. Inputs and outputs of an agent are sections of the spec, not steps.
pub(crate) fn block_list(blocks: &BlockCatalog) -> String {
    let mut text = String::from("## Blocks\n\nRequired inputs have a `*`.\n\n");
    for spec in blocks.specs().filter(|spec| is_step(spec)) {
        let required: Vec<&str> = spec.required().collect();
        let star = |pin: &String| match required.contains(&pin.as_str()) {
            true => format!("{pin}*"),
            false => pin.clone(),
        };
        let inputs: Vec<String> = pins(&spec.inputs).map(star).collect();
        let outputs: Vec<&String> = pins(&spec.outputs).filter(|pin| *pin != "error").collect();
        let outputs = outputs.iter().map(|pin| pin.as_str()).collect::<Vec<_>>().join(", ");
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "- **{}**: {} ({}) → {outputs}",
            block_title(spec.name),
            spec.description,
            inputs.join(", "),
        );
    }
    text
}

/// Whether the block can be a step of a spec.
pub(crate) fn is_step(spec: &BlockSpec) -> bool {
    !matches!(spec.kind, BlockKind::Input | BlockKind::Output | BlockKind::Note)
}

fn pins(schema: &Value) -> impl Iterator<Item = &String> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|pins| pins.keys())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_reads_about_the_spec_and_not_about_tools() {
        let blocks = BlockCatalog::of([].into());
        let text = for_writers(&blocks);
        for kept in ["```yaml", "## The spec", "## Rules", "## Blocks"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        for left_out in ["create_agent", "find_", "ask_question", "run_agent"] {
            assert!(!text.contains(left_out), "{left_out}: {text}");
        }
        let whole = for_tools(&blocks);
        assert!(TOOL_SECTIONS.iter().all(|title| whole.contains(&format!("## {title}\n"))));
    }
}
