//! The server behind a proxy that forwards only one path prefix to it.

use reqwest::header::{ACCEPT, CONTENT_ENCODING, ORIGIN};

use super::ENGINE;
use crate::events::kinds;
use crate::reverse_proxy::{Prefix, ReverseProxy};
use crate::server::{Api, TestServer, refusal};

const PATH: &str = "/pilot";

async fn behind(prefix: Prefix) -> (TestServer, ReverseProxy, Api) {
    let server = TestServer::with(ENGINE, &[("BASE_PATH", PATH), ("RUST_LOG", "pilothouse=debug")]);
    let address = server.base().strip_suffix(PATH).expect("its URL ends with the base path");
    let proxy = ReverseProxy::start(PATH, prefix, address).await;
    let api = Api::at(format!("{}{PATH}", proxy.base()));
    (server, proxy, api)
}

#[tokio::test]
async fn the_page_and_its_files_are_found_below_the_base_path() {
    for prefix in [Prefix::Kept, Prefix::Stripped] {
        let (_server, _proxy, api) = behind(prefix).await;
        for path in ["/", "/copilot", "/library/agents/1?x=/pilot"] {
            let request =
                api.client.get(format!("{}{path}", api.base())).header(ACCEPT, "text/html");
            let html = request.send().await.expect("an answer").text().await.expect("text");
            assert!(html.contains("<base href=\"/pilot/\""), "{prefix:?} {path}: {html}");
            let script = html.split('"').find_map(|piece| piece.strip_prefix("./assets/"));
            let script = script.expect("a script");
            let script = api.client.get(format!("{}/assets/{script}", api.base()));
            assert_eq!(script.send().await.expect("an answer").status(), 200, "{prefix:?}");
        }
        let nowhere = api.client.get(format!("{}/assets/gone.js", api.base()));
        let nowhere = nowhere.send().await.expect("an answer");
        assert!(nowhere.headers().get(CONTENT_ENCODING).is_none());
        assert_eq!(refusal(nowhere).await, (404, "ROUTE_NOT_FOUND".into()), "{prefix:?}");
    }
}

#[tokio::test]
async fn a_turn_streams_and_is_cancelled_below_the_base_path() {
    for prefix in [Prefix::Kept, Prefix::Stripped] {
        let (_server, _proxy, api) = behind(prefix).await;
        let session = api.session().await;
        let mut events = api.say(&session, "/stream count=2000 size=20 delay_ms=30").await;
        events.until("text-delta").await;
        api.cancel(&session).await;
        let (rest, _) = events.rest().await;
        let deltas = kinds(&rest).iter().filter(|kind| **kind == "text-delta").count();
        assert!(deltas < 2000, "{prefix:?}: the stream is not buffered");
        let read = api.read_session(&session).await;
        assert_eq!(read["messages"][1]["metadata"]["partial"], true, "{prefix:?}: {read}");
    }
}

#[tokio::test]
async fn foreign_origins_are_refused_and_logs_omit_the_base_path() {
    let (server, proxy, api) = behind(Prefix::Kept).await;
    let create = |origin: &str| {
        api.client.post(api.api("/chat/sessions")).header(ORIGIN, origin.to_owned()).send()
    };
    let foreign = create("https://evil.example").await.expect("an answer");
    assert_eq!(refusal(foreign).await.0, 403);
    let own = create(&proxy.base()).await.expect("an answer");
    assert!(own.status().is_success(), "{}", own.status());
    server.wait_for_log_of_api("/api/chat/sessions");
    assert!(!server.log().contains("/pilot/api"), "{}", server.log());
    let health = api.client.get(format!("{}/health/ready", api.base()));
    assert_eq!(health.send().await.expect("an answer").status(), 200);
}

#[tokio::test]
async fn direct_requests_work_without_the_base_path() {
    let (server, ..) = behind(Prefix::Kept).await;
    let address = server.base().strip_suffix(PATH).expect("its URL ends with the base path");
    let direct = Api::at(address.to_owned());
    let session = direct.session().await;
    assert_eq!(direct.read_session(&session).await["id"], session.as_str());
    let other = direct.client.get(format!("{address}/pilothouse/api/chat/sessions"));
    assert_eq!(refusal(other.send().await.expect("an answer")).await.0, 404);
}
