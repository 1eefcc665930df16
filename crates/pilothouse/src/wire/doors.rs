//! Where a process listens: for clients, and for whoever watches it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;

use crate::config::{Role, Settings};
use crate::http::{self, AppState, accept};

/// Where a process that does not serve clients shows its health, unless it is told otherwise.
const EXECUTOR_PORT: u16 = 8008;

/// The ports are taken, nobody is served yet: a second process on them is refused before it touches the store.
pub(super) struct Closed {
    clients: Option<TcpListener>,
    watchers: Option<TcpListener>,
}

pub(super) struct Open {
    clients: Option<accept::HttpServer>,
    watchers: Option<accept::HttpServer>,
}

impl Closed {
    pub(super) async fn take(settings: &Settings) -> anyhow::Result<Self> {
        let serves_clients = settings.roles.has(Role::Api);
        let clients = match serves_clients {
            true => Some(listen(settings, settings.port, "--port").await?),
            false => None,
        };
        // With the clients' port there is health on that one, so a second is only for who asks for it.
        let port = match (settings.executor_port, serves_clients) {
            // The setting is about workers: processes that share their environment must not compete for it.
            (Some(_), true) if !settings.roles.has(Role::Executor) => None,
            (port, true) => port,
            (port, false) => Some(port.unwrap_or(EXECUTOR_PORT)),
        };
        let watchers = match port {
            Some(port) => Some(listen(settings, port, "COPILOT_EXECUTOR_PORT").await?),
            None => None,
        };
        Ok(Self { clients, watchers })
    }

    /// The address to tell people.
    pub(super) fn address(&self) -> anyhow::Result<SocketAddr> {
        let listener = self.clients.as_ref().or(self.watchers.as_ref());
        let listener = listener.context("a process listens somewhere")?;
        listener.local_addr().context("a listening socket has an address")
    }

    pub(super) fn open(self, app: &Arc<AppState>, settings: &Settings) -> Open {
        let service = accept::HttpService {
            router: http::router(app),
            busy: http::busy_router(app),
            connections: app.connections.clone(),
            timeouts: accept::ConnectionTimeouts {
                head: settings.request_head.0,
                write: settings.write_stall.0,
            },
        };
        let watchers = self.watchers.map(|listener| {
            let router = http::executor_router(app);
            accept::HttpServer::start(listener, accept::HttpService { router, ..service.clone() })
        });
        let clients = self.clients.map(|listener| accept::HttpServer::start(listener, service));
        Open { clients, watchers }
    }
}

impl Open {
    pub(super) fn stop_accepting_clients(&self) {
        if let Some(server) = &self.clients {
            server.stop_accepting();
        }
    }

    pub(super) async fn close(self, patience: Duration) {
        for server in self.clients.into_iter().chain(self.watchers) {
            server.close(patience).await;
        }
    }
}

async fn listen(settings: &Settings, port: u16, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind((settings.host, port)).await.with_context(|| {
        format!("The server cannot listen on {} port {port}. Is another one running? Choose another port with {setting}.", settings.host)
    })
}
