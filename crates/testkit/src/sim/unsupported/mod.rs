//! Ports that simulated nodes do not support: workspace files, API keys, agents, executions and health checks.

mod agents;
mod executions;

use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use ports::files::{FileList, FileRef, FileRefusal, FileStream, FileWritten, SessionWorkspace};
use ports::store::{ApiKey, NewApiKey};
use ports::{ApiKeys, FailedDependency, Files, HealthCheck, PortError, PortResult};
use protocol::UserId;
use protocol::response::WorkspaceFile;

use super::node::SimNode;

pub(crate) fn unsupported<T>() -> PortResult<T> {
    Err(PortError::Broken("the simulation does not support this port".into()))
}

#[async_trait]
impl Files for SimNode {
    async fn list(&self, _: &SessionWorkspace, _: &str, _: usize) -> PortResult<FileList> {
        Ok(FileList { files: Vec::new(), total: 0 })
    }

    async fn stat(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        unsupported()
    }

    async fn read(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
        _: u64,
        _: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), FileRefusal>> {
        unsupported()
    }

    async fn open(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, FileStream), FileRefusal>> {
        unsupported()
    }

    async fn write(
        &self,
        _: &SessionWorkspace,
        _: &str,
        _: Bytes,
        _: bool,
    ) -> PortResult<Result<FileWritten, FileRefusal>> {
        unsupported()
    }

    async fn delete(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        unsupported()
    }

    async fn delete_session(&self, _: &SessionWorkspace) -> PortResult<()> {
        unsupported()
    }

    async fn folder(&self, _: &SessionWorkspace) -> PortResult<PathBuf> {
        unsupported()
    }
}

#[async_trait]
impl ApiKeys for SimNode {
    async fn create(&self, _: &UserId, _: NewApiKey) -> PortResult<ApiKey> {
        unsupported()
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<ApiKey>> {
        unsupported()
    }

    async fn revoke(&self, _: &UserId, _: &str) -> PortResult<bool> {
        unsupported()
    }

    async fn find(&self, _: &str) -> PortResult<Option<UserId>> {
        unsupported()
    }
}

#[async_trait]
impl HealthCheck for SimNode {
    async fn failing(&self) -> Vec<FailedDependency> {
        Vec::new()
    }
}
