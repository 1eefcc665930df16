//! The program as its users meet it: the real binary, over HTTP, on a temporary data directory.

mod auth;
mod contract;
mod edges;
mod events;
mod guarantees;
mod namespace;
mod operations;
mod ownership;
mod page;
mod resume;
mod scripted;
mod server;
mod sessions;
mod terminal;
mod turns;
mod validation;
