//! Session titles, from the title model if there is one.

use pilothouse_toolbox::providers::{CONTEXT_TOKENS, ProviderOptions, connect};
use testkit::model_server::{Dialect, TITLE_MODEL};

use super::{GENEROUS, rig};

#[tokio::test]
async fn a_title_comes_from_the_title_model() {
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let (server, provider) = rig(dialect, GENEROUS).await;
        let title = provider.title("How do I moor a boat?").await;
        assert_eq!(title, Ok(Some("A scripted title".to_owned())));
        let sent = server.title_requests().remove(0);
        assert_eq!((sent.model(), &sent.body["max_tokens"]), (TITLE_MODEL, &20.into()));
        assert_eq!(sent.last_user_text(), "How do I moor a boat?");
        assert!(server.requests().is_empty(), "a title takes no script");
        server.assert_no_violations();
    }
}

#[tokio::test]
async fn the_offline_pilot_has_no_title() {
    let provider =
        connect(&ProviderOptions::Offline { context_tokens: CONTEXT_TOKENS }).expect("connects");
    assert_eq!(provider.title("hello").await, Ok(None));
}
