//! A provider that adds up the tokens of its calls.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::StreamExt;
use ports::ModelProvider;
use ports::model::{ModelError, ModelEvent, ModelRequest, ModelStream};
use protocol::turn::ModelTier;
use protocol::usage::Usage;

pub(crate) struct MeteredProvider {
    provider: Arc<dyn ModelProvider>,
    usage: Arc<Mutex<Usage>>,
}

impl MeteredProvider {
    pub(crate) fn new(provider: Arc<dyn ModelProvider>) -> Arc<Self> {
        Arc::new(Self { provider, usage: Arc::default() })
    }

    pub(crate) fn usage(&self) -> Usage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ModelProvider for MeteredProvider {
    fn name(&self) -> &'static str {
        self.provider.name()
    }

    fn model(&self, tier: ModelTier) -> &str {
        self.provider.model(tier)
    }

    fn window(&self, tier: ModelTier) -> u64 {
        self.provider.window(tier)
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let usage = self.usage.clone();
        let stream = self.provider.stream(request).await?;
        let metered = stream.inspect(move |event| {
            if let Ok(ModelEvent::Finished { usage: used, .. }) = event {
                *usage.lock().unwrap_or_else(PoisonError::into_inner) += *used;
            }
        });
        Ok(metered.boxed())
    }

    fn gives_titles(&self) -> bool {
        self.provider.gives_titles()
    }

    async fn title(&self, message: &str) -> Result<Option<String>, ModelError> {
        self.provider.title(message).await
    }

    fn summarizes(&self) -> bool {
        self.provider.summarizes()
    }
}
