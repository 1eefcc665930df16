//! A client for one address of the API, with the requests that most tests make.

use std::sync::Once;

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use super::TEST_TIMEOUT;
use crate::events::EventStream;

pub(crate) struct Api {
    pub(crate) client: Client,
    base: String,
}

impl Api {
    pub(crate) fn at(base: String) -> Self {
        Self { client: client(), base }
    }

    /// `http://127.0.0.1:PORT`, with the base path if there is one.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) fn api(&self, path: &str) -> String {
        format!("{}/api{path}", self.base)
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.api(path))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.api(path)).json(body)
    }

    pub(crate) async fn session(&self) -> String {
        let response =
            self.client.post(self.api("/chat/sessions")).send().await.expect("an answer");
        id_of(response).await
    }

    /// Sends a message and returns the open stream.
    pub(crate) async fn say(&self, session: &str, text: &str) -> EventStream {
        let body = json!({"message": text});
        let path = format!("/chat/sessions/{session}/stream");
        EventStream::of(self.post(&path, &body).send().await.expect("an answer"))
    }

    pub(crate) async fn read_session(&self, session: &str) -> Value {
        json_of(self.get(&format!("/chat/sessions/{session}")).send().await.expect("an answer"))
            .await
    }

    pub(crate) async fn cancel(&self, session: &str) -> Value {
        let path = format!("/chat/sessions/{session}/cancel");
        json_of(self.client.post(self.api(&path)).send().await.expect("an answer")).await
    }
}

pub(crate) async fn id_of(response: Response) -> String {
    json_of(response).await["id"].as_str().expect("an id").to_owned()
}

pub(crate) async fn json_of(response: Response) -> Value {
    let status = response.status();
    assert!(status.is_success(), "{status}: {}", response.text().await.unwrap_or_default());
    response.json().await.expect("JSON")
}

/// Status and error code of a refusal.
pub(crate) async fn refusal(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap_or_default();
    let code = body["code"].as_str().or(body["detail"]["code"].as_str()).unwrap_or_default();
    (status, code.to_owned())
}

pub(crate) fn client() -> Client {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder().no_proxy().timeout(TEST_TIMEOUT * 2).build().expect("a client")
}
