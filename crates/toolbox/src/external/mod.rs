//! Tools that an operator adds without code: a name, a schema and the URL of a service that does the work. `description`
//! validates the configuration, `tool` sends the calls, `response` reads the service's responses.

mod description;
mod response;
mod tool;

pub use description::{ExternalToolDescription, load};
pub(crate) use tool::ExternalTool;
