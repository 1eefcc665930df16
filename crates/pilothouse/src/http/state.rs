//! The state that all routes share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use metrics_exporter_prometheus::PrometheusHandle;
use ports::Ports;
use tokio_util::sync::CancellationToken;

use crate::config::{BasePath, Settings};
use crate::http::extract::auth::{AllowedOrigins, RequestAuth};
use crate::http::extract::internal_key::InternalKey;
use crate::http::page::WebPage;
use crate::http::routes::about::AboutServer;
use crate::http::routes::metrics::{self, MetricsAccess};
use crate::http::routes::overview::ProcessInfo;
use crate::http::routes::tools::ToolList;
use crate::http::server::PermitPool;
use crate::http::stream::StreamPermits;

pub(crate) struct AppState {
    pub(crate) engine: Engine,
    pub(crate) ports: Ports,
    pub(crate) about: AboutServer,
    pub(crate) tools: ToolList,
    pub(crate) auth: RequestAuth,
    pub(crate) origins: AllowedOrigins,
    pub(crate) options: HttpOptions,
    pub(crate) stream_permits: StreamPermits,
    pub(crate) connections: Arc<PermitPool<IpAddr>>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) metrics_access: MetricsAccess,
    pub(crate) internal_key: InternalKey,
    pub(crate) page: WebPage,
    pub(crate) process: ProcessInfo,
    pub(crate) dependencies: &'static [&'static str],
    /// Aborts every open stream.
    pub(crate) streams_end: CancellationToken,
}

pub(crate) struct HttpOptions {
    pub(crate) heartbeat: Duration,
    pub(crate) replay_window: Duration,
    pub(crate) stream_ttl: Duration,
    pub(crate) model: ModelInfo,
    pub(crate) base_path: BasePath,
}

/// The model that responds, as shown to users.
#[derive(Clone, Debug)]
pub(crate) struct ModelInfo {
    pub(crate) provider: String,
    pub(crate) name: String,
}

impl ModelInfo {
    pub(crate) fn is_offline(&self) -> bool {
        self.provider == "offline"
    }
}

impl AppState {
    pub(crate) fn new(
        settings: &Settings,
        engine: Engine,
        ports: Ports,
        model: ModelInfo,
        tools: ToolList,
        metrics: PrometheusHandle,
    ) -> anyhow::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            about: AboutServer::new(settings, &model),
            tools,
            auth: RequestAuth::new(settings, ports.api_keys.clone(), ports.clock.clone())?,
            origins: AllowedOrigins::new(settings),
            options: HttpOptions {
                heartbeat: settings.heartbeat.0,
                replay_window: settings.replay_window.0,
                stream_ttl: settings.stream_ttl.0,
                model,
                base_path: settings.base_path.clone(),
            },
            stream_permits: StreamPermits::new(settings.max_streams_per_user),
            connections: PermitPool::new(settings.max_connections, settings.max_connections_per_ip),
            metrics,
            metrics_access: MetricsAccess::new(settings),
            internal_key: InternalKey::new(settings),
            page: WebPage::built(&settings.base_path),
            process: ProcessInfo::new(settings),
            dependencies: metrics::dependencies(settings),
            streams_end: CancellationToken::new(),
            engine,
            ports,
        }))
    }
}
