//! The listeners of a process: for clients, and for health checks and metrics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;

use crate::config::{ProcessRole, Settings};
use crate::http::{AppState, server};

/// Default port for health and metrics of a process that does not serve clients.
const EXECUTOR_PORT: u16 = 8008;

/// Listeners that are bound but not served yet: a second process on the same ports fails before it touches the store.
pub(crate) struct BoundListeners {
    clients: Option<TcpListener>,
    monitoring: Option<TcpListener>,
}

pub(crate) struct RunningListeners {
    clients: Option<server::HttpServer>,
    monitoring: Option<server::HttpServer>,
}

impl BoundListeners {
    pub(crate) async fn bind(settings: &Settings) -> anyhow::Result<Self> {
        let serves_clients = settings.roles.has(ProcessRole::Api);
        let clients = match serves_clients {
            true => Some(listen(settings, settings.port, "--port").await?),
            false => None,
        };
        // Clients' port also serves health and metrics, so a second port is opened only on request.
        let port = match (settings.executor_port, serves_clients) {
            // The setting is for workers: processes that share their environment must not compete for the port.
            (Some(_), true) if !settings.roles.has(ProcessRole::Executor) => None,
            (port, true) => port,
            (port, false) => Some(port.unwrap_or(EXECUTOR_PORT)),
        };
        let monitoring = match port {
            Some(port) => Some(listen(settings, port, "COPILOT_EXECUTOR_PORT").await?),
            None => None,
        };
        Ok(Self { clients, monitoring })
    }

    /// The address to show to people.
    pub(crate) fn address(&self) -> anyhow::Result<SocketAddr> {
        let listener = self.clients.as_ref().or(self.monitoring.as_ref());
        let listener = listener.context("every process has a listener")?;
        listener.local_addr().context("a listening socket has an address")
    }

    pub(crate) fn serve(self, app: &Arc<AppState>, settings: &Settings) -> RunningListeners {
        let service = server::HttpService {
            router: server::router(app),
            busy: server::busy_router(app),
            connections: app.connections.clone(),
            timeouts: server::ConnectionTimeouts {
                head: settings.request_head.0,
                write: settings.write_stall.0,
            },
        };
        let monitoring = self.monitoring.map(|listener| {
            let router = server::executor_router(app);
            server::HttpServer::start(listener, server::HttpService { router, ..service.clone() })
        });
        let clients = self.clients.map(|listener| server::HttpServer::start(listener, service));
        RunningListeners { clients, monitoring }
    }
}

impl RunningListeners {
    pub(crate) fn stop_accepting_clients(&self) {
        if let Some(server) = &self.clients {
            server.stop_accepting();
        }
    }

    pub(crate) async fn close(self, grace: Duration) {
        for server in self.clients.into_iter().chain(self.monitoring) {
            server.close(grace).await;
        }
    }
}

async fn listen(settings: &Settings, port: u16, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind((settings.host, port)).await.with_context(|| {
        format!("Can't listen on {} port {port}. Is another server running? Choose another port with {setting}.", settings.host)
    })
}
