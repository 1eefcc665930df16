//! Agents in workspace files, as the tools that build agents read and write them.

use std::sync::Arc;

use bytes::Bytes;
use ports::Files;
use ports::call_services::GivenAgent;
use ports::files::{FileRef, FileRefusal};
use ports::tool::{ToolContext, ToolError};
use protocol::graph::Graph;
use serde_json::Value;

use crate::tools::given_agent::{MAX_BYTES, too_large};
use crate::tools::{ToolServices, workspace};

/// Begins an argument that is the path of a workspace file.
const FILE_MARK: &str = "@@agptfile:";

#[derive(Clone)]
pub(crate) struct AgentFiles {
    files: Arc<dyn Files>,
}

impl AgentFiles {
    pub(crate) fn new(services: &ToolServices) -> Self {
        Self { files: services.files.clone() }
    }

    /// The agent in a file: graph JSON (an object with `nodes`), or a spec in YAML or JSON.
    pub(crate) async fn read(
        &self,
        context: &ToolContext,
        file: &str,
    ) -> Result<GivenAgent, ToolError> {
        let workspace = workspace::session_workspace(context);
        let path = FileRef::Path(workspace::relative(file.trim()).to_owned());
        let read = |file: FileRef| {
            let workspace = &workspace;
            async move { self.files.read(workspace, &file, 0, MAX_BYTES + 1).await }
        };
        // Models use the id of a file where a path is asked for.
        let found = match read(path.clone()).await? {
            Err(FileRefusal::NotFound | FileRefusal::BadPath) => {
                read(FileRef::Id(file.trim().to_owned())).await?
            }
            found => found,
        };
        let (_, bytes) = found.map_err(|refused| workspace::refusal(refused, &path))?;
        if bytes.len() > MAX_BYTES {
            return Err(too_large(bytes.len()));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            ToolError::tell("invalid_arguments", format!("{file} is not a text file."))
        })?;
        agent_of_text(file, text)
    }

    /// Writes the agent as JSON and returns the path of the file.
    pub(crate) async fn write(
        &self,
        context: &ToolContext,
        name: &str,
        agent: &Graph,
    ) -> Result<String, ToolError> {
        let content = serde_json::to_vec_pretty(agent).map_err(|error| {
            ToolError::Fatal(format!("The graph could not be serialized: {error}."))
        })?;
        let workspace = workspace::session_workspace(context);
        let written = self.files.write(&workspace, name, Bytes::from(content), true).await?;
        let file = FileRef::Path(name.to_owned());
        let written = written.map_err(|refused| workspace::refusal(refused, &file))?;
        Ok(written.file.path)
    }
}

/// The path in an argument such as `@@agptfile:agents/tides.json`.
pub(crate) fn named_file(argument: &Value) -> Option<&str> {
    argument.as_str()?.trim().strip_prefix(FILE_MARK)
}

/// The name of a file in the workspace's own folder.
pub(crate) fn plain_name(name: &str) -> Result<&str, ToolError> {
    let name = workspace::relative(name.trim());
    match name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        true => Err(ToolError::tell(
            "invalid_arguments",
            "write_to is the name of a file without a folder, such as agent.json.",
        )),
        false => Ok(name),
    }
}

fn agent_of_text(file: &str, text: &str) -> Result<GivenAgent, ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::tell("empty_agent", format!("{file} is empty.")));
    }
    if !text.trim_start().starts_with('{') {
        return Ok(GivenAgent::Spec(Value::String(text.to_owned())));
    }
    let json: Value = serde_json::from_str(text).map_err(|error| {
        ToolError::tell("invalid_arguments", format!("{file} is not JSON: {error}."))
    })?;
    Ok(match json.get("nodes") {
        Some(_) => GivenAgent::Graph(json),
        None => GivenAgent::Spec(json),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_has_graph_json_or_a_spec() {
        for (text, expected) in [
            ("{\"nodes\": []}", GivenAgent::Graph(json!({"nodes": []}))),
            (" {\"name\": \"x\"}", GivenAgent::Spec(json!({"name": "x"}))),
            ("name: x", GivenAgent::Spec(json!("name: x"))),
        ] {
            assert_eq!(agent_of_text("f", text).expect("an agent"), expected, "{text}");
        }
        for (text, code) in [("", "empty_agent"), ("{", "invalid_arguments")] {
            let Err(ToolError::TellModel { code: got, .. }) = agent_of_text("f", text) else {
                panic!("{text} is no agent")
            };
            assert_eq!(got, code);
        }
    }

    #[test]
    fn a_file_to_write_has_no_folder() {
        assert_eq!(plain_name(" /workspace/a.json").expect("a name"), "a.json");
        for name in ["", "a/b.json", "../a", ".hidden", "a\\b", "/etc/x"] {
            assert!(plain_name(name).is_err(), "{name}");
        }
    }
}
