//! The tools a model can call, one file each. To add one, write its file and add its name to `tools!` below;
//! `CONTRIBUTING.md` has an example. The other modules are what several tools share.

mod agent_execution;
mod agent_files;
mod agent_lookup;
mod arguments;
mod block_call;
pub(crate) mod block_choice;
pub(crate) mod building_guide;
mod caller;
pub mod docs;
mod from_words;
mod given_agent;
mod setup;
mod sub_session;
mod typed;
mod waiting;
mod workspace;

use std::sync::Arc;
use std::time::Duration;

use ports::{AgentGenerator, Block, Clock, Files, Library, Listings, Reviews, Tool};
use protocol::tool::{ToolDescription, ToolSpec};

use crate::egress::EgressClient;
use crate::external::{ExternalTool, ExternalToolDescription};
use crate::sandbox::Sandbox;
pub use typed::{ToolDefinition, TypedTool};

/// Declares the modules of tools, and `definitions`, which has the `tool()` of each in the same order.
#[doc(hidden)]
#[macro_export]
macro_rules! tools {
    ($($name:ident,)*) => {
        $(mod $name;)*

        fn definitions() -> Vec<$crate::tools::ToolDefinition> {
            vec![$($name::tool(),)*]
        }
    };
}

// In alphabetical order.
tools! {
    ask_question,
    bash_exec,
    check_background_tool,
    check_operation_status,
    continue_run_block,
    create_agent,
    customize_agent,
    decompose_goal,
    delete_workspace_file,
    edit_agent,
    find_agent,
    find_block,
    find_library_agent,
    fix_agent_graph,
    get_agent_building_guide,
    get_doc_page,
    get_sub_session_result,
    list_workspace_files,
    read_workspace_file,
    run_agent,
    run_block,
    run_sub_session,
    search_docs,
    todo_write,
    validate_agent_graph,
    view_agent_output,
    web_fetch,
    write_workspace_file,
}

/// Long-lived dependencies of the tools.
pub struct ToolServices {
    pub files: Arc<dyn Files>,
    pub egress: EgressClient,
    /// Without one, the shell tool is left out.
    pub sandbox: Option<Sandbox>,
    pub docs: docs::UserGuide,
    /// Tools defined by the operator.
    pub external: Vec<ExternalToolDescription>,
    pub library: Arc<dyn Library>,
    pub listings: Arc<dyn Listings>,
    pub reviews: Arc<dyn Reviews>,
    /// Every block, for the tools that find and run blocks.
    pub blocks: Arc<[Arc<dyn Block>]>,
    /// Makes agents from words.
    pub generator: Arc<dyn AgentGenerator>,
    pub clock: Arc<dyn Clock>,
    /// The longest that a call may wait for a sub-session or an execution.
    pub max_wait: Duration,
    /// Base URL at which external services reach this server, if there is one.
    pub callback_base: Option<String>,
}

/// The specs of the built-in tools, also of those that this server cannot run.
pub fn built_in_specs() -> Vec<ToolSpec> {
    definitions().into_iter().map(|definition| definition.spec).collect()
}

/// The tools as clients show them: every built-in one, then the others of `tools`. A built-in tool that cannot run in
/// this process is included, because another process may run it, and a history may have calls of it.
pub fn describe(tools: &[Arc<dyn Tool>]) -> Vec<ToolDescription> {
    let mut described: Vec<_> = built_in_specs().iter().map(ToolSpec::describe).collect();
    let built_in = described.len();
    for spec in tools.iter().map(|tool| tool.spec()) {
        if !described[..built_in].iter().any(|tool| tool.name == spec.name) {
            described.push(spec.describe());
        }
    }
    described
}

/// The table of the built-in tools in the guide.
pub fn guide_table() -> String {
    let mut table = String::from("| tool | does | sign-in |\n|---|---|---|\n");
    for ToolSpec { name, summary, requires_auth, .. } in built_in_specs() {
        let sign_in = if requires_auth { "yes" } else { "no" };
        table.push_str(&format!("| `{name}` | {summary} | {sign_in} |\n"));
    }
    table
}

/// Every available tool: the built-in ones in alphabetical order, then the external ones. The error is a message for the
/// operator.
pub fn all(services: &ToolServices) -> Result<Vec<Arc<dyn Tool>>, String> {
    // The names of all built-in tools are reserved, so that a name means the same on every machine, with and without a
    // sandbox.
    let reserved: Vec<&str> = built_in_specs().iter().map(|spec| spec.name).collect();
    let mut tools: Vec<Arc<dyn Tool>> =
        definitions().into_iter().filter_map(|definition| definition.build(services)).collect();
    for described in &services.external {
        let name = described.name();
        if reserved.contains(&name) {
            return Err(format!(
                "External tool \"{name}\" has the same name as a built-in tool: rename it."
            ));
        }
        let tool = ExternalTool::new(described.clone(), services.callback_base.as_deref())?;
        tools.push(Arc::new(tool));
    }
    Ok(tools)
}
