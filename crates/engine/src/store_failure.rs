//! The error of a tool call when the store fails while the engine serves it.

use ports::PortError;
use ports::tool::ToolError;

pub(crate) fn tell_model(error: PortError) -> ToolError {
    error.into()
}
