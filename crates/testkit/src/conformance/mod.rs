//! The laws of the seams. Each is a function that any backend must pass; a backend's test file is a
//! fixture and one line, which makes one test of every law:
//!
//! ```ignore
//! testkit::conformance::all!(MyFixture);
//! ```

pub mod agent_scene;
pub mod api_keys;
pub mod block_runs;
pub mod bus;
pub mod completions;
pub mod credits;
mod deaf;
pub mod executions;
pub mod files;
pub mod follow_ups;
pub mod graphs;
pub mod leases;
pub mod library;
pub mod listings;
pub mod messages;
pub mod operations;
pub mod outbox;
pub mod parked;
pub mod places;
pub mod queue;
pub mod regenerate;
pub mod reports;
pub mod reviews;
pub mod scene;
pub mod sessions;
pub mod stream_log;
pub mod tree;
pub mod turns;
pub mod values;

use std::future::Future;
use std::time::Duration;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId, TurnId};

pub use self::deaf::{Deaf, StartsDeaf};
pub use crate::{
    agents_laws as agents, all_laws as all, api_keys_laws as api_keys,
    block_runs_laws as block_runs, bus_laws as bus, completions_laws as completions,
    credits_laws as credits, engine_laws as engine, executions_laws as executions,
    files_laws as files, follow_ups_laws as follow_ups, graphs_laws as graphs,
    leases_laws as leases, library_laws as library, listings_laws as listings,
    messages_laws as messages, operations_laws as operations, outbox_laws as outbox,
    parked_laws as parked, places_laws as places, queue_laws as queue,
    regenerate_laws as regenerate, reports_laws as reports, reviews_laws as reviews,
    sessions_laws as sessions, stream_log_laws as stream_log, tree_laws as tree,
    turns_laws as turns, values_laws as values,
};

/// Limits that no law reaches unless it is about them.
pub const GENEROUS: UserLimits =
    UserLimits { running: 1_000, in_flight: 10_000, executions: 1_000 };

/// A backend of its own, with nothing in it.
pub trait Fixture: Sized + Send + Sync {
    fn start() -> impl Future<Output = Self> + Send {
        Self::start_with(GENEROUS)
    }
    fn start_with(caps: UserLimits) -> impl Future<Output = Self> + Send;
    fn ports(&self) -> &Ports;
    /// Ends the process's part of the backend and opens it anew on the same data.
    fn restart(&mut self) -> impl Future<Output = ()> + Send;
    /// Removes the beginning of a log up to and including `to`, as a backend that trims would.
    fn trim(&mut self, task: &TaskId, to: Seq) -> impl Future<Output = ()> + Send;
    /// Moves a turn into the past, for laws that cannot wait for another day. Those without the laws of `reports` have no
    /// use for it.
    fn backdate(&mut self, _: &TurnId, _: Duration) -> impl Future<Output = ()> + Send {
        async { unreachable!("only the laws of reports look at days") }
    }
}

/// Every law there is.
#[macro_export]
macro_rules! all_laws {
    ($fixture:ty) => {
        $crate::agents_laws!($fixture);
        $crate::api_keys_laws!($fixture);
        $crate::engine_laws!($fixture);
        $crate::files_laws!($fixture);
        $crate::reports_laws!($fixture);
    };
}

/// The laws of the seams that carry agents and their runs.
#[macro_export]
macro_rules! agents_laws {
    ($fixture:ty) => {
        $crate::block_runs_laws!($fixture);
        $crate::credits_laws!($fixture);
        $crate::executions_laws!($fixture);
        $crate::graphs_laws!($fixture);
        $crate::library_laws!($fixture);
        $crate::listings_laws!($fixture);
        $crate::reviews_laws!($fixture);
        $crate::values_laws!($fixture);
    };
}

/// The laws of the seams that carry turns, which is all but agents and what is kept for people and their programs.
#[macro_export]
macro_rules! engine_laws {
    ($fixture:ty) => {
        $crate::bus_laws!($fixture);
        $crate::completions_laws!($fixture);
        $crate::follow_ups_laws!($fixture);
        $crate::leases_laws!($fixture);
        $crate::messages_laws!($fixture);
        $crate::operations_laws!($fixture);
        $crate::outbox_laws!($fixture);
        $crate::parked_laws!($fixture);
        $crate::places_laws!($fixture);
        $crate::queue_laws!($fixture);
        $crate::regenerate_laws!($fixture);
        $crate::sessions_laws!($fixture);
        $crate::stream_log_laws!($fixture);
        $crate::tree_laws!($fixture);
        $crate::turns_laws!($fixture);
    };
}

/// One test per law, in a module named after the seam.
#[macro_export]
macro_rules! laws {
    ($fixture:ty, $seam:ident: $($law:ident),* $(,)?) => {
        mod $seam {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $law() {
                    let law = async {
                        let mut fixture = <$fixture as $crate::conformance::Fixture>::start().await;
                        $crate::conformance::$seam::$law(&mut fixture).await;
                    };
                    tokio::time::timeout($crate::conformance::scene::LAW, law)
                        .await
                        .expect("a law does not wait for ever");
                }
            )*
        }
    };
}
