//! Agents as the engine keeps them: the blocks of this server, stored documents, and the tools of orchestrators.
//! `graphs` has what is computed from a document alone, `execution` runs it.

mod agent_builder;
mod agent_documents;
mod agent_stages;
mod agent_uses;
mod block_catalog;
pub(crate) mod document_stages;
mod graph_documents;
mod save_agent;
pub(crate) mod tool_pins;

pub(crate) use agent_builder::{AgentBuilder, called_tools};
pub use agent_documents::{AgentDocument, ResolvedAgent};
pub(crate) use agent_stages::AgentStages;
pub use block_catalog::BlockCatalog;
pub use document_stages::{AgentEdited, EditsUndo, state_of};
pub use graph_documents::{GraphChanged, GraphSaved, SavePolicy};
