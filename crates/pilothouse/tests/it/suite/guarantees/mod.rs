//! Guarantees that hold across crashes and faults, each tested with the fault itself.

mod acceptance;
mod clock;
mod crash_loop;
mod kill_sweep;
mod one_end;
mod shutdown;
mod side_effects;
mod start_up;
mod without_wake_ups;

use std::path::PathBuf;

use testkit::model_server::ModelServer;

use super::ENGINE;
use crate::scripts::model_settings;
use crate::server::TestServer;

pub(crate) fn server_for(model: &ModelServer, more: &[(&str, &str)]) -> TestServer {
    TestServer::with(ENGINE, &model_settings(&model.openai_url(), more))
}

/// A file in any workspace; no other session may use its name.
fn workspace_file(server: &TestServer, name: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(server.folder().join("data/workspaces")).ok()?;
    folders.filter_map(|folder| Some(folder.ok()?.path().join(name))).find(|path| path.exists())
}
