//! Tools that an operator adds without code: a name, a schema and the address of a service that does the work. What
//! they may be is in `description`, what is sent in `tool`, and what comes back in `answer`.

mod description;
mod response;
mod tool;

pub use description::{ExternalToolDescription, load};
pub(crate) use tool::ExternalTool;
