//! Limits the number of streams per caller. Anonymous callers are identified by their address.

use std::net::IpAddr;
use std::sync::Arc;

use protocol::UserId;
use protocol::problem::ProblemCode;
use protocol::session::Owner;

use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::server::{PeerAddress, PermitPool, PooledPermit};

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum StreamCaller {
    User(UserId),
    Anonymous(IpAddr),
}

/// The right to read one stream.
pub(crate) struct StreamPermit {
    _permit: PooledPermit<StreamCaller>,
}

#[derive(Clone)]
pub(crate) struct StreamPermits(Arc<PermitPool<StreamCaller>>);

impl StreamPermits {
    pub(crate) fn new(per_user: usize) -> Self {
        // Every stream has a connection, and connections have a total limit.
        Self(PermitPool::new(usize::MAX, per_user))
    }

    pub(crate) fn open(&self) -> usize {
        self.0.count()
    }

    pub(crate) fn take(&self, owner: &Owner, peer: PeerAddress) -> ApiResult<StreamPermit> {
        let caller = match owner {
            Owner::User(user) => StreamCaller::User(user.clone()),
            Owner::Anonymous => StreamCaller::Anonymous(peer.0),
        };
        match self.0.admit(caller) {
            Some(permit) => Ok(StreamPermit { _permit: permit }),
            None => Err(ApiProblem::new(
                ProblemCode::TooManyStreams,
                "You have too many open streams. Close one and try again.",
            )),
        }
    }
}
