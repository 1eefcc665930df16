//! Tests of the test tools.

mod proxy;
mod services;
mod with_services;
