//! The tools a model can call, one file each. To add one, write its file and add its line to `built_in`.

mod agent_execution;
mod agent_lookup;
mod arguments;
mod ask_question;
mod bash_exec;
mod block_call;
mod block_choice;
mod caller;
mod check_background_tool;
mod check_operation_status;
mod continue_run_block;
mod delete_workspace_file;
pub mod docs;
mod find_agent;
mod find_block;
mod find_library_agent;
mod get_doc_page;
mod get_sub_session_result;
mod list_workspace_files;
pub(crate) mod page_text;
mod port_error;
mod read_workspace_file;
mod run_agent;
mod run_block;
mod run_sub_session;
mod search_docs;
mod setup;
mod sub_session;
mod todo_write;
mod view_agent_output;
mod waiting;
mod web_fetch;
mod workspace;
mod write_workspace_file;

use std::sync::Arc;
use std::time::Duration;

use ports::{Block, Clock, Files, Library, Listings, Reviews, Tool};

use crate::egress::EgressClient;
use crate::external::{ExternalTool, ExternalToolDescription};
use crate::sandbox::Sandbox;
use agent_lookup::AgentLookup;
use block_choice::BlockCatalog;

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
    pub clock: Arc<dyn Clock>,
    /// The longest that a call may wait for a sub-session or an execution.
    pub max_wait: Duration,
    /// Base URL at which external services reach this server, if there is one.
    pub callback_base: Option<String>,
}

/// Every available tool: the built-in ones in alphabetical order, then the external ones. The error is a message for the
/// operator.
pub fn all(services: &ToolServices) -> Result<Vec<Arc<dyn Tool>>, String> {
    let mut tools = built_in(services);
    for described in &services.external {
        let name = described.name();
        // The shell's name is reserved even without a sandbox, so that it means the same on every machine.
        if name == bash_exec::NAME || tools.iter().any(|tool| tool.spec().name == name) {
            return Err(format!(
                "External tool \"{name}\" has the same name as a built-in tool: rename it."
            ));
        }
        let tool = ExternalTool::new(described.clone(), services.callback_base.as_deref())?;
        tools.push(Arc::new(tool));
    }
    Ok(tools)
}

fn built_in(services: &ToolServices) -> Vec<Arc<dyn Tool>> {
    let ToolServices { files, egress, sandbox, docs, reviews, clock, max_wait, .. } = services;
    let lookup =
        AgentLookup { library: services.library.clone(), listings: services.listings.clone() };
    let blocks = BlockCatalog(services.blocks.clone());
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(ask_question::AskQuestion::new())];
    if let Some(sandbox) = sandbox {
        tools.push(Arc::new(bash_exec::BashExec::new(sandbox.clone(), files.clone())));
    }
    tools.push(Arc::new(check_background_tool::CheckBackgroundTool::new()));
    tools.push(Arc::new(check_operation_status::CheckOperationStatus::new()));
    tools
        .push(Arc::new(continue_run_block::ContinueRunBlock::new(blocks.clone(), reviews.clone())));
    tools.push(Arc::new(delete_workspace_file::DeleteWorkspaceFile::new(files.clone())));
    tools.push(Arc::new(find_agent::FindAgent::new(lookup.clone())));
    tools.push(Arc::new(find_block::FindBlock::new(blocks.clone())));
    tools.push(Arc::new(find_library_agent::FindLibraryAgent::new(lookup.clone(), files.clone())));
    tools.push(Arc::new(get_doc_page::GetDocPage::new(docs.clone())));
    tools.push(Arc::new(get_sub_session_result::GetSubSessionResult::new(*max_wait)));
    tools.push(Arc::new(list_workspace_files::ListWorkspaceFiles::new(files.clone())));
    tools.push(Arc::new(read_workspace_file::ReadWorkspaceFile::new(files.clone())));
    tools.push(Arc::new(run_agent::RunAgent::new(
        lookup.clone(),
        blocks.clone(),
        clock.clone(),
        *max_wait,
    )));
    tools.push(Arc::new(run_block::RunBlock::new(blocks)));
    tools.push(Arc::new(run_sub_session::RunSubSession::new(*max_wait)));
    tools.push(Arc::new(search_docs::SearchDocs::new(docs.clone())));
    tools.push(Arc::new(todo_write::TodoWrite::new()));
    tools.push(Arc::new(view_agent_output::ViewAgentOutput::new(lookup, clock.clone(), *max_wait)));
    tools.push(Arc::new(web_fetch::WebFetch::new(egress.clone())));
    tools.push(Arc::new(write_workspace_file::WriteWorkspaceFile::new(files.clone())));
    tools
}
