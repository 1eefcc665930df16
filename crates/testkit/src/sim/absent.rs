//! What a simulated process does without: a workspace with anything in it, API keys, agents and health checks.

mod agents;
mod runs;

use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use ports::files::{FileRef, Listing, Pieces, Place, Refused, Written};
use ports::store::{ApiKey, NewApiKey};
use ports::{ApiKeys, Failing, Files, Health, PortError, PortResult};
use protocol::UserId;
use protocol::response::WorkspaceFile;

pub(super) struct Absent;

fn absent<T>() -> PortResult<T> {
    Err(PortError::Broken("the simulation has none".into()))
}

#[async_trait]
impl Files for Absent {
    async fn list(&self, _: &Place, _: &str, _: usize) -> PortResult<Listing> {
        Ok(Listing { files: Vec::new(), total: 0 })
    }

    async fn stat(&self, _: &Place, _: &FileRef) -> PortResult<Result<WorkspaceFile, Refused>> {
        absent()
    }

    async fn read(
        &self,
        _: &Place,
        _: &FileRef,
        _: u64,
        _: usize,
    ) -> PortResult<Result<(WorkspaceFile, Bytes), Refused>> {
        absent()
    }

    async fn open(
        &self,
        _: &Place,
        _: &FileRef,
    ) -> PortResult<Result<(WorkspaceFile, Pieces), Refused>> {
        absent()
    }

    async fn write(
        &self,
        _: &Place,
        _: &str,
        _: Bytes,
        _: bool,
    ) -> PortResult<Result<Written, Refused>> {
        absent()
    }

    async fn delete(&self, _: &Place, _: &FileRef) -> PortResult<Result<WorkspaceFile, Refused>> {
        absent()
    }

    async fn delete_session(&self, _: &Place) -> PortResult<()> {
        absent()
    }

    async fn folder(&self, _: &Place) -> PortResult<PathBuf> {
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
impl Health for Absent {
    async fn failing(&self) -> Vec<Failing> {
        Vec::new()
    }
}
