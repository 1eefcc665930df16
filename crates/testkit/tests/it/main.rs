//! The tools of the tests, tested themselves.

mod proxy;
mod services;
mod with_services;
