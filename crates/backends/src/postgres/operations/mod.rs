//! Operations: long-running tool calls, each carried out by a turn of its own.

mod begin;
mod complete;
mod line_up;
pub(crate) mod rest;
pub(crate) mod result;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{NewOperation, OperationBegun, OperationCompleted, OperationKey, Operations};
use ports::{Fenced, PortResult};
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::sessions::user;
use super::text_param::{TextParam, optional};
use crate::rows::operations::{operation, operation_columns, owned_operation};

#[async_trait]
impl Operations for PostgresStore {
    async fn begin(
        &self,
        claim: &TurnClaim,
        new: NewOperation,
    ) -> PortResult<Fenced<OperationBegun>> {
        self.write(begin::begin(self.clone(), claim.clone(), new)).await
    }

    async fn get(&self, owner: &Owner, which: &OperationKey) -> PortResult<Option<Operation>> {
        self.read(|db| async move {
            let (id, turn) = named(which);
            let row = db.query_opt(FIND_FOR_OWNER, &[&id, &turn, &user(owner)]).await?;
            row.as_ref().map(operation).transpose()
        })
        .await
    }

    async fn find(&self, which: &OperationKey) -> PortResult<Option<(Owner, Operation)>> {
        self.read(|db| async move {
            let (id, turn) = named(which);
            let row = db.query_opt(FIND_WITH_OWNER, &[&id, &turn]).await?;
            row.as_ref().map(owned_operation).transpose()
        })
        .await
    }

    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>> {
        self.write(rest::accepted(self.clone(), claim.clone(), at_most)).await
    }

    async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted> {
        self.write(complete::complete(self.clone(), which.clone(), result)).await
    }

    async fn line_up(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        self.write(line_up::line_up(self.clone(), claim.clone())).await
    }
}

/// The operation's id or that of its turn, as two parameters of which one is NULL.
fn named(which: &OperationKey) -> (Option<TextParam<'_>>, Option<TextParam<'_>>) {
    match which {
        OperationKey::Operation(id) => (optional(Some(id.as_str())), None),
        OperationKey::Task(id) => (None, optional(Some(id.as_str()))),
    }
}

const FIND: &str = concat!(
    "SELECT ",
    operation_columns!(),
    " FROM operation AS p WHERE p.id = $1 OR p.turn_id = $2"
);
const FIND_FOR_OWNER: &str = concat!(
    "SELECT ",
    operation_columns!(),
    " FROM operation AS p JOIN session AS s ON s.id = p.session_id
     WHERE (p.id = $1 OR p.turn_id = $2) AND (s.user_id IS NULL OR s.user_id = $3)"
);

const FIND_WITH_OWNER: &str = concat!(
    "SELECT ",
    operation_columns!(),
    ", s.user_id FROM operation AS p JOIN session AS s ON s.id = p.session_id
     WHERE p.id = $1 OR p.turn_id = $2"
);

/// The operation, regardless of its owner.
async fn find(
    db: &PooledConnection,
    which: &OperationKey,
) -> Result<Option<Operation>, PostgresError> {
    let (id, turn) = named(which);
    let row = db.query_opt(FIND, &[&id, &turn]).await?;
    row.as_ref().map(operation).transpose()
}
