//! `GetWikipediaSummaryBlock`: the summary of a Wikipedia article.

use std::time::Duration;

use url::Url;

use crate::blocks::failures;
use crate::blocks::prelude::*;
use crate::egress::{self, FetchLimits};

const SUMMARIES: &str = "https://en.wikipedia.org/api/rest_v1/page/summary/";
const LIMITS: FetchLimits = FetchLimits {
    bytes: 1024 * 1024,
    total: Duration::from_secs(30),
    idle: Duration::from_secs(15),
    accepts: |media_type| media_type.contains("json"),
};

#[derive(Deserialize, JsonSchema)]
struct WikipediaSummaryInput {
    /// The title of the article.
    #[schemars(length(min = 1, max = 500))]
    topic: String,
}

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "f5b0f5d0-1862-4d61-94be-3ad0fa772760",
        "GetWikipediaSummaryBlock",
        "Gets the summary of an article in the English Wikipedia.",
    )
    .categories(&[BlockCategory::Search])
    .outputs([pin::text("summary", "The summary of the article.")])
    .outside();
    // No examples: an example would need access to Wikipedia.
    vec![block(spec, Vec::new(), GetWikipediaSummary { egress: dependencies.egress.clone() })]
}

struct GetWikipediaSummary {
    egress: egress::EgressClient,
}

#[async_trait]
impl TypedBlock for GetWikipediaSummary {
    type Input = WikipediaSummaryInput;

    async fn run(
        &self,
        input: WikipediaSummaryInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let url = summary_url(&input.topic)
            .ok_or_else(|| BlockError::failed("The topic is not a valid article title."))?;
        let response = failures::unless_stopped(&context, self.egress.get(url.as_str(), LIMITS))
            .await?
            .map_err(failures::network)?;
        out.emit("summary", Value::String(summary(response.status, &response.body)?)).await
    }
}

/// The URL of the summary. The topic is percent-encoded as one path segment.
fn summary_url(topic: &str) -> Option<Url> {
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
        404 => return Err(BlockError::failed("No Wikipedia article has this title.")),
        status => return Err(BlockError::failed(format!("Wikipedia returned status {status}."))),
    }
    let article: Value = serde_json::from_slice(body).unwrap_or_default();
    article["extract"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| BlockError::failed("Wikipedia's response contains no summary."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_encoded_as_one_path_segment() {
        let path = |topic: &str| summary_url(topic).map(|url| url.path().to_owned());
        let begin = "/api/rest_v1/page/summary/";
        assert_eq!(path("Ada Lovelace"), Some(format!("{begin}Ada%20Lovelace")));
        assert_eq!(path("AC/DC?x#y"), Some(format!("{begin}AC%2FDC%3Fx%23y")));
        assert_eq!(path(".."), None);
        assert_eq!(path(" "), None);
    }

    #[test]
    fn a_response_gives_a_summary_or_an_error() {
        assert_eq!(summary(200, br#"{"extract": "A city."}"#), Ok("A city.".to_owned()));
        for (status, body) in [(404, "{}"), (503, "{}"), (200, "{}"), (200, "<html>")] {
            assert!(summary(status, body.as_bytes()).is_err(), "{status} {body}");
        }
    }
}
