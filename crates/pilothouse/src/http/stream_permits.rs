//! How many streams one caller follows. Anonymous callers are told apart by their address.

use std::net::IpAddr;
use std::sync::Arc;

use protocol::UserId;
use protocol::problem::ProblemCode;
use protocol::session::Owner;

use super::accept::Peer;
use super::caps::{Caps, Permit};
use super::problem::{Answer, Problem};

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Follower {
    User(UserId),
    Anonymous(IpAddr),
}

/// The right to follow one stream.
pub(crate) struct StreamPermit {
    _permit: Permit<Follower>,
}

#[derive(Clone)]
pub(crate) struct StreamPermits(Arc<Caps<Follower>>);

impl StreamPermits {
    pub(crate) fn new(per_user: usize) -> Self {
        // Each stream has a connection, and those are capped in all.
        Self(Caps::new(usize::MAX, per_user))
    }

    pub(crate) fn open(&self) -> usize {
        self.0.count()
    }

    pub(crate) fn take(&self, owner: &Owner, peer: Peer) -> Answer<StreamPermit> {
        let follower = match owner {
            Owner::User(user) => Follower::User(user.clone()),
            Owner::Anonymous => Follower::Anonymous(peer.0),
        };
        match self.0.admit(follower) {
            Some(permit) => Ok(StreamPermit { _permit: permit }),
            None => Err(Problem::new(
                ProblemCode::TooManyStreams,
                "Too many streams are open for you. Close one and try again.",
            )),
        }
    }
}
