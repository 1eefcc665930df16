//! What a simulated process does without: a workspace with anything in it, API keys, agents and health checks.

mod agents;
mod runs;

use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use ports::files::{FileList, FileRef, FileRefusal, FileStream, FileWritten, SessionWorkspace};
use ports::store::{ApiKey, NewApiKey};
use ports::{ApiKeys, FailedDependency, Files, HealthCheck, PortError, PortResult};
use protocol::UserId;
use protocol::response::WorkspaceFile;

pub(super) struct Absent;

fn absent<T>() -> PortResult<T> {
    Err(PortError::Broken("the simulation has none".into()))
}

#[async_trait]
impl Files for Absent {
    async fn list(&self, _: &SessionWorkspace, _: &str, _: usize) -> PortResult<FileList> {
        Ok(FileList { files: Vec::new(), total: 0 })
    }

    async fn stat(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        absent()
    }

    async fn read(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
        _: u64,
        _: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), FileRefusal>> {
        absent()
    }

    async fn open(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, FileStream), FileRefusal>> {
        absent()
    }

    async fn write(
        &self,
        _: &SessionWorkspace,
        _: &str,
        _: Bytes,
        _: bool,
    ) -> PortResult<Result<FileWritten, FileRefusal>> {
        absent()
    }

    async fn delete(
        &self,
        _: &SessionWorkspace,
        _: &FileRef,
    ) -> PortResult<Result<WorkspaceFile, FileRefusal>> {
        absent()
    }

    async fn delete_session(&self, _: &SessionWorkspace) -> PortResult<()> {
        absent()
    }

    async fn folder(&self, _: &SessionWorkspace) -> PortResult<PathBuf> {
        absent()
    }
}

#[async_trait]
impl ApiKeys for Absent {
    async fn create(&self, _: &UserId, _: NewApiKey) -> PortResult<ApiKey> {
        absent()
    }

    async fn list(&self, _: &UserId) -> PortResult<Vec<ApiKey>> {
        absent()
    }

    async fn revoke(&self, _: &UserId, _: &str) -> PortResult<bool> {
        absent()
    }

    async fn find(&self, _: &str) -> PortResult<Option<UserId>> {
        absent()
    }
}

#[async_trait]
impl HealthCheck for Absent {
    async fn failing(&self) -> Vec<FailedDependency> {
        Vec::new()
    }
}
