//! What the providers behind an HTTP API have in common: the models by tier, the context window and titles.

use async_trait::async_trait;
use ports::ModelProvider;
use ports::model::{ModelError, ModelRequest, ModelStream};
use protocol::turn::ModelTier;

use super::options::EndpointOptions;
use super::title;

/// The API of a provider.
#[async_trait]
pub(crate) trait RemoteApi: Send + Sync {
    fn name(&self) -> &'static str;

    async fn send(&self, call: RemoteCall<'_>) -> Result<ModelStream, ModelError>;
}

pub(crate) struct RemoteCall<'a> {
    pub(crate) model: &'a str,
    /// Without it, the response is as long as the operator allows.
    pub(crate) max_tokens: Option<u32>,
    pub(crate) request: &'a ModelRequest,
}

pub(crate) struct RemoteProvider<A> {
    pub(crate) api: A,
    pub(crate) endpoint: EndpointOptions,
}

#[async_trait]
impl<A: RemoteApi> ModelProvider for RemoteProvider<A> {
    fn name(&self) -> &'static str {
        self.api.name()
    }

    fn model(&self, tier: ModelTier) -> &str {
        match tier {
            ModelTier::Standard => &self.endpoint.model,
            ModelTier::Advanced => &self.endpoint.advanced_model,
        }
    }

    fn window(&self, _: ModelTier) -> u64 {
        self.endpoint.context_tokens
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let model = self.model(request.tier);
        self.api.send(RemoteCall { model, max_tokens: None, request: &request }).await
    }

    fn gives_titles(&self) -> bool {
        true
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        let request = title::request(message);
        let (model, max_tokens) = (self.endpoint.title_model.as_str(), Some(title::MAX_TOKENS));
        title::collect(self.api.send(RemoteCall { model, max_tokens, request: &request })).await
    }
}
