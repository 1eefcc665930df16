//! An agent in a file: a spec as YAML or JSON, or a graph as JSON.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use protocol::limits::GRAPH_BYTES;
use serde_json::{Value, json};

/// The name of a file that stands for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

pub(crate) struct AgentFile {
    pub(crate) content: AgentContent,
    /// The file as it is.
    pub(crate) text: String,
    /// `None` for standard input.
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum AgentContent {
    YamlSpec,
    JsonSpec,
    Graph(Value),
}

impl AgentFile {
    pub(crate) fn read(name: &str) -> anyhow::Result<Self> {
        let path = (name != STANDARD_INPUT).then(|| PathBuf::from(name));
        let text = match &path {
            Some(path) => {
                let file = std::fs::File::open(path);
                file.map_err(Into::into).and_then(read_text)
            }
            None => read_text(std::io::stdin().lock()),
        };
        let shown = if path.is_some() { name } else { "standard input" };
        let text = text.with_context(|| format!("could not read {shown}"))?;
        let content = content(&text, path.as_deref());
        Ok(Self {
            content: content.with_context(|| format!("could not read {shown}"))?,
            text,
            path,
        })
    }

    /// The agent, as the routes for documents take it.
    pub(crate) fn body(&self) -> Value {
        match &self.content {
            AgentContent::Graph(graph) => json!({"agent_json": graph}),
            AgentContent::YamlSpec | AgentContent::JsonSpec => json!({"spec": self.text}),
        }
    }
}

fn read_text(source: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    // One byte more than allowed shows that there is more.
    source.take(GRAPH_BYTES as u64 + 1).read_to_string(&mut text)?;
    ensure!(text.len() <= GRAPH_BYTES, "it has more than {GRAPH_BYTES} bytes");
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

/// An object with `nodes` is a graph. It may be wrapped in `graph`, as clients upload it.
fn content(text: &str, path: Option<&Path>) -> anyhow::Result<AgentContent> {
    let is_json_file = path.is_some_and(|path| path.extension().is_some_and(|end| end == "json"));
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(error) if is_json_file => bail!("it is not valid JSON: {error}"),
        Err(_) => return Ok(AgentContent::YamlSpec),
    };
    let graph = value.get("graph").unwrap_or(&value);
    Ok(match graph.get("nodes") {
        Some(_) => AgentContent::Graph(graph.clone()),
        None => AgentContent::JsonSpec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_nodes_is_a_graph_and_everything_else_a_spec() {
        let graph = json!({"nodes": []});
        let table = [
            (r#"{"nodes": []}"#, AgentContent::Graph(graph.clone())),
            (r#"{"graph": {"nodes": []}, "source": "upload"}"#, AgentContent::Graph(graph)),
            (r#"{"name": "A", "steps": {}}"#, AgentContent::JsonSpec),
            ("name: A\nsteps: {}", AgentContent::YamlSpec),
            ("name: [", AgentContent::YamlSpec),
        ];
        for (text, expected) in table {
            assert_eq!(content(text, None).expect("content"), expected, "{text}");
        }
        assert!(content("{", Some(Path::new("a.json"))).is_err());
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        assert!(read_text(std::io::repeat(b' ')).is_err());
        assert_eq!(read_text("\u{feff}name: A".as_bytes()).expect("text"), "name: A");
    }
}
