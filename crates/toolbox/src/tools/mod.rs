//! The tools a model can call, one file each. To add one: write its file, and add its line to `all`.

mod arguments;
mod ask_question;
mod bash_exec;
mod delete_workspace_file;
pub mod docs;
mod get_doc_page;
mod list_workspace_files;
mod page_text;
mod read_workspace_file;
mod search_docs;
mod todo_write;
mod web_fetch;
mod workspace;
mod write_workspace_file;

use std::sync::Arc;

use ports::{Files, Tool};

use crate::egress;
use crate::sandbox::Sandbox;

/// What tools are built with.
pub struct Services {
    pub files: Arc<dyn Files>,
    pub egress: egress::Client,
    /// Without one there is no shell tool.
    pub sandbox: Option<Sandbox>,
    pub docs: docs::Library,
}

/// Every tool that can work here, in alphabetical order.
pub fn all(services: &Services) -> Vec<Arc<dyn Tool>> {
    let Services { files, egress, sandbox, docs } = services;
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(ask_question::AskQuestion::new())];
    if let Some(sandbox) = sandbox {
        tools.push(Arc::new(bash_exec::BashExec::new(sandbox.clone(), files.clone())));
    }
    tools.push(Arc::new(delete_workspace_file::DeleteWorkspaceFile::new(files.clone())));
    tools.push(Arc::new(get_doc_page::GetDocPage::new(docs.clone())));
    tools.push(Arc::new(list_workspace_files::ListWorkspaceFiles::new(files.clone())));
    tools.push(Arc::new(read_workspace_file::ReadWorkspaceFile::new(files.clone())));
    tools.push(Arc::new(search_docs::SearchDocs::new(docs.clone())));
    tools.push(Arc::new(todo_write::TodoWrite::new()));
    tools.push(Arc::new(web_fetch::WebFetch::new(egress.clone())));
    tools.push(Arc::new(write_workspace_file::WriteWorkspaceFile::new(files.clone())));
    tools
}
