//! `GetWikipediaSummaryBlock`: what the encyclopedia says of a topic, in a paragraph.

use std::time::Duration;

use async_trait::async_trait;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use protocol::block::{BlockCategory, BlockKind, BlockSpec};
use protocol::tool::ToolEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::super::typed::{self, Typed, TypedBlock};
use super::super::{Parts, failures};
use crate::egress::{self, FetchLimits};

const SUMMARIES: &str = "https://en.wikipedia.org/api/rest_v1/page/summary/";
const LIMITS: FetchLimits = FetchLimits {
    bytes: 1024 * 1024,
    total: Duration::from_secs(30),
    idle: Duration::from_secs(15),
    accepts: |media_type| media_type.contains("json"),
};

pub(super) struct GetWikipediaSummary {
    spec: BlockSpec,
    egress: egress::EgressClient,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Given {
    /// The title of the article.
    #[schemars(length(min = 1, max = 500))]
    topic: String,
}

impl GetWikipediaSummary {
    pub(super) fn new(parts: &Parts) -> Typed<Self> {
        let spec = BlockSpec {
            id: "f5b0f5d0-1862-4d61-94be-3ad0fa772760",
            name: "GetWikipediaSummaryBlock",
            description: "Looks a topic up in the English Wikipedia and gives the summary of its article.",
            categories: &[BlockCategory::Search],
            kind: BlockKind::Standard,
            inputs: typed::inputs::<Given>(),
            outputs: typed::outputs([typed::text("summary", "The summary.")]),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
        };
        Typed(Self { spec, egress: parts.egress.clone() })
    }
}

#[async_trait]
impl TypedBlock for GetWikipediaSummary {
    type Input = Given;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        given: Given,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let url = address(&given.topic)
            .ok_or_else(|| BlockError::failed("The topic cannot be the title of an article."))?;
        let answer = failures::unless_stopped(&context, self.egress.get(url.as_str(), LIMITS))
            .await?
            .map_err(failures::network)?;
        out.emit("summary", Value::String(summary(answer.status, &answer.body)?)).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        // There is no example without the encyclopedia.
        Vec::new()
    }
}

/// The topic is one part of the path, whatever is in it.
fn address(topic: &str) -> Option<Url> {
    let topic = topic.trim();
    if topic.is_empty() || topic == "." || topic == ".." {
        return None;
    }
    let mut url = Url::parse(SUMMARIES).ok()?;
    url.path_segments_mut().ok()?.pop_if_empty().push(topic);
    Some(url)
}

fn summary(status: u16, body: &[u8]) -> Result<String, BlockError> {
    match status {
        200..=299 => {}
        404 => return Err(BlockError::failed("There is no article with this title.")),
        status => return Err(BlockError::failed(format!("Wikipedia answered {status}."))),
    }
    let article: Value = serde_json::from_slice(body).unwrap_or_default();
    article["extract"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| BlockError::failed("Wikipedia's answer holds no summary."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_stays_one_part_of_the_path() {
        let path = |topic: &str| address(topic).map(|url| url.path().to_owned());
        let begin = "/api/rest_v1/page/summary/";
        assert_eq!(path("Ada Lovelace"), Some(format!("{begin}Ada%20Lovelace")));
        assert_eq!(path("AC/DC?x#y"), Some(format!("{begin}AC%2FDC%3Fx%23y")));
        assert_eq!(path(".."), None);
        assert_eq!(path(" "), None);
    }

    #[test]
    fn an_answer_is_a_summary_or_says_why_not() {
        assert_eq!(summary(200, br#"{"extract": "A city."}"#), Ok("A city.".to_owned()));
        for (status, body) in [(404, "{}"), (503, "{}"), (200, "{}"), (200, "<html>")] {
            assert!(summary(status, body.as_bytes()).is_err(), "{status} {body}");
        }
    }
}
