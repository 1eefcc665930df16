//! Authentication: valid and invalid tokens, API keys, anonymous callers, foreign web pages.

use std::time::Duration;

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::ENGINE;
use crate::events::{Ending, EventStream};
use crate::server::{TestServer, id_of, json_of, refusal};
use crate::tokens::{KEY, claims, now, sign, token};

pub(crate) fn jwt_server(more: &[(&str, &str)]) -> TestServer {
    let mut environment =
        vec![("AUTH_MODE", "jwt"), ("JWT_VERIFY_KEY", KEY), ("JWT_ISSUER", "test")];
    environment.extend(more);
    TestServer::with(ENGINE, &environment)
}

async fn status_with(server: &TestServer, token: &str) -> u16 {
    let request = server.get("/chat/sessions").header("authorization", format!("Bearer {token}"));
    request.send().await.expect("an answer").status().as_u16()
}

/// A token assembled by hand, signed or unsigned.
fn forged(header: &str, payload: &str, sign_with: Option<&[u8]>) -> String {
    use base64::Engine;
    let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let message = format!("{}.{}", encode(header), encode(payload));
    let signature = sign_with.map(|key| {
        jsonwebtoken::crypto::sign(
            message.as_bytes(),
            &EncodingKey::from_secret(key),
            Algorithm::HS256,
        )
        .expect("signed")
    });
    format!("{message}.{}", signature.unwrap_or_default())
}

#[tokio::test]
async fn only_valid_tokens_are_accepted() {
    let server = jwt_server(&[]);
    let key = KEY.as_bytes();
    assert_eq!(status_with(&server, &token("anna")).await, 200);
    let now = now();
    let with = |name: &str, value: Value| {
        let mut claims = claims("anna", 600);
        claims[name] = value;
        sign(&Header::default(), &claims, key)
    };
    let without = |name: &str| {
        let mut claims = claims("anna", 600);
        claims.as_object_mut().expect("an object").remove(name);
        sign(&Header::default(), &claims, key)
    };
    let header = |name: &str, value: Value| {
        let mut header = json!({"alg": "HS256", "typ": "JWT"});
        header[name] = value;
        forged(&header.to_string(), &claims("anna", 600).to_string(), Some(key))
    };
    let payload = claims("anna", 600).to_string();
    let table = [
        ("expired", sign(&Header::default(), &claims("anna", -600), key)),
        (
            "another key",
            sign(&Header::default(), &claims("anna", 600), b"ffffffffffffffffffffffffffffffff"),
        ),
        ("another algorithm", sign(&Header::new(Algorithm::HS512), &claims("anna", 600), key)),
        ("no algorithm", forged(r#"{"alg":"none"}"#, &payload, None)),
        ("no signature", forged(r#"{"alg":"HS256"}"#, &payload, None)),
        ("an algorithm of keys we do not have", forged(r#"{"alg":"RS256"}"#, &payload, Some(key))),
        ("no exp", without("exp")),
        ("no aud", without("aud")),
        ("no iss", without("iss")),
        ("no sub", without("sub")),
        ("exp as text", with("exp", json!(format!("{}", now + 600)))),
        ("exp as a huge number", with("exp", json!(1e300))),
        ("nbf in the future", with("nbf", json!(now + 600))),
        ("nbf as text", with("nbf", json!("soon"))),
        ("another aud", with("aud", json!("anon"))),
        ("another iss", with("iss", json!("https://evil.example"))),
        ("sub as object", with("sub", json!({"a": 1}))),
        ("empty sub", with("sub", json!(""))),
        ("sub with a line break", with("sub", json!("a\nb"))),
        ("sub as long as a book", with("sub", json!("a".repeat(300)))),
        ("crit", header("crit", json!(["b64"]))),
        ("jku", header("jku", json!("https://evil.example/keys"))),
        ("x5u", header("x5u", json!("https://evil.example/cert"))),
        ("jwk", header("jwk", json!({"kty": "oct", "k": "AAAA"}))),
        (
            "sub twice",
            forged(r#"{"alg":"HS256"}"#, &payload.replacen('{', r#"{"sub":"bert","#, 1), Some(key)),
        ),
        ("trailing garbage", format!("{}x", token("anna"))),
        ("four parts", format!("{}.x", token("anna"))),
        ("nothing", String::new()),
        ("very long", "a".repeat(20_000)),
    ];
    for (name, token) in table {
        assert_eq!(status_with(&server, &token).await, 401, "{name}");
    }
    let basic =
        server.get("/chat/sessions").header("authorization", format!("Basic {}", token("anna")));
    let response = basic.send().await.expect("an answer");
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    assert_eq!(refusal(response).await, (401, "UNAUTHENTICATED".into()));
    assert_eq!(server.get("/chat/sessions").send().await.expect("an answer").status(), 401);
}

#[tokio::test]
async fn published_keys_are_fetched_and_bound_to_their_algorithm() {
    let ec =
        EncodingKey::from_ec_pem(include_bytes!("../keys/es256-for-tests.pem")).expect("a key");
    let rsa =
        EncodingKey::from_rsa_pem(include_bytes!("../keys/rs256-for-tests.pem")).expect("a key");
    let jwk = |key: &EncodingKey, algorithm, id: &str| {
        let mut jwk = Jwk::from_encoding_key(key, algorithm).expect("a public key");
        jwk.common.key_id = Some(id.to_owned());
        jwk
    };
    let set =
        json!({"keys": [jwk(&ec, Algorithm::ES256, "e1"), jwk(&rsa, Algorithm::RS256, "r1")]});
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/keys", listener.local_addr().expect("an address"));
    let keys =
        axum::Router::new().route("/keys", axum::routing::get(async move || axum::Json(set)));
    let mut issuer = tokio::task::JoinSet::new();
    issuer.spawn(async move { axum::serve(listener, keys).await });
    let server = TestServer::with(ENGINE, &[("AUTH_MODE", "jwt"), ("JWT_JWKS_URL", &url)]);
    let signed = |algorithm, id: Option<&str>, key: &EncodingKey| {
        let header = Header { kid: id.map(str::to_owned), ..Header::new(algorithm) };
        encode(&header, &claims("anna", 600), key).expect("signed")
    };
    assert_eq!(status_with(&server, &signed(Algorithm::ES256, Some("e1"), &ec)).await, 200);
    assert_eq!(status_with(&server, &signed(Algorithm::RS256, Some("r1"), &rsa)).await, 200);
    assert_eq!(
        status_with(&server, &signed(Algorithm::RS256, None, &rsa)).await,
        200,
        "the only key that fits"
    );
    assert_eq!(
        status_with(&server, &signed(Algorithm::ES256, Some("r1"), &ec)).await,
        401,
        "a key of another kind"
    );
    assert_eq!(status_with(&server, &signed(Algorithm::ES256, Some("../e1"), &ec)).await, 401);
    assert_eq!(status_with(&server, &token("anna")).await, 401, "no secret is configured");
}

#[tokio::test]
async fn an_api_key_authenticates_its_user_until_it_is_revoked() {
    let server = jwt_server(&[]);
    let anna = |request: reqwest::RequestBuilder| request.bearer_auth(token("anna"));
    let made = json_of(
        anna(server.post("/api-keys", &json!({"name": "ci"}))).send().await.expect("an answer"),
    )
    .await;
    let key = made["key"].as_str().expect("a key").to_owned();
    assert!(key.starts_with("phk_") && key.starts_with(made["head"].as_str().expect("text")));
    let with_key = |request: reqwest::RequestBuilder| request.header("x-api-key", &key);
    let session =
        id_of(with_key(server.post("/chat/sessions", &json!({}))).send().await.expect("an answer"))
            .await;
    let path = format!("/chat/sessions/{session}");
    assert_eq!(
        anna(server.get(&path)).send().await.expect("an answer").status(),
        200,
        "it is anna's session"
    );

    let listed =
        anna(server.get("/api-keys")).send().await.expect("an answer").text().await.expect("text");
    assert!(listed.contains("\"ci\"") && !listed.contains(&key), "the key is shown once");
    let revoke = format!("/api-keys/{}", made["id"].as_str().expect("an id"));
    let foreign = server
        .client
        .delete(server.api(&revoke))
        .bearer_auth(token("bert"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(refusal(foreign).await, (404, "API_KEY_NOT_FOUND".into()));
    assert_eq!(
        anna(server.client.delete(server.api(&revoke))).send().await.expect("an answer").status(),
        204
    );
    assert_eq!(with_key(server.get(&path)).send().await.expect("an answer").status(), 401);
    assert!(!server.log().contains(&key));
}

#[tokio::test]
async fn a_stream_breaks_when_its_token_expires() {
    // The clock leeway is 30 seconds, so this token is valid for two more.
    let server = jwt_server(&[]);
    let short = sign(&Header::default(), &claims("anna", -28), KEY.as_bytes());
    let made = server
        .post("/chat/sessions", &json!({}))
        .bearer_auth(&short)
        .send()
        .await
        .expect("an answer");
    let session = id_of(made).await;
    let body = json!({"message": "/stream count=100000 size=5 delay_ms=20"});
    let stream =
        server.post(&format!("/chat/sessions/{session}/stream"), &body).bearer_auth(&short);
    let mut events = EventStream::of(stream.send().await.expect("an answer"));
    let (_, ending) =
        tokio::time::timeout(Duration::from_secs(20), events.rest()).await.expect("in time");
    assert_eq!(ending, Ending::Broken);
}

#[tokio::test]
async fn anonymous_sessions_are_used_by_id_and_claimed_once() {
    let server = jwt_server(&[("ALLOW_ANONYMOUS", "true")]);
    let made =
        json_of(server.post("/chat/sessions", &json!({})).send().await.expect("an answer")).await;
    assert_eq!(made["user_id"], Value::Null);
    let session = made["id"].as_str().expect("an id").to_owned();
    server.say(&session, "/stream count=1 size=5").await.all().await;
    let list = json_of(server.get("/chat/sessions").send().await.expect("an answer")).await;
    assert_eq!(list["total"], 0, "anonymous callers have no list");
    let keys = server.post("/api-keys", &json!({"name": "x"})).send().await.expect("an answer");
    assert_eq!(keys.status(), 401);

    let annas = server
        .post("/chat/sessions", &json!({}))
        .bearer_auth(token("anna"))
        .send()
        .await
        .expect("an answer");
    let annas = id_of(annas).await;
    assert_eq!(
        server.get(&format!("/chat/sessions/{annas}")).send().await.expect("an answer").status(),
        404
    );

    let claim = async |user: &str| {
        let request =
            server.client.patch(server.api(&format!("/chat/sessions/{session}/assign-user")));
        request.bearer_auth(token(user)).send().await.expect("an answer").status().as_u16()
    };
    assert_eq!(claim("anna").await, 200);
    assert_eq!(claim("anna").await, 200, "it already belongs to her");
    assert_eq!(claim("bert").await, 404);
    let now = server.get(&format!("/chat/sessions/{session}")).send().await.expect("an answer");
    assert_eq!(now.status(), 404, "and no longer anonymous");
}

#[tokio::test]
async fn foreign_origins_and_host_names_are_refused() {
    let server = TestServer::with(ENGINE, &[("CORS_ORIGINS", "https://good.example")]);
    let make = |name: &'static str, value: &str| {
        server.post("/chat/sessions", &json!({})).header(name, value.to_owned())
    };
    for origin in
        ["null", "https://good.example.evil.com", "http://localhost:1", "https://evil.example"]
    {
        let response = make("origin", origin).send().await.expect("an answer");
        assert!(response.headers().get("access-control-allow-origin").is_none());
        assert_eq!(refusal(response).await, (403, "ACCESS_DENIED".into()), "{origin}");
    }
    let good = make("origin", "https://good.example").send().await.expect("an answer");
    assert_eq!(good.headers()["access-control-allow-origin"], "https://good.example");
    assert!(good.headers().get("access-control-allow-credentials").is_none());
    assert_eq!(good.status(), 200);
    assert_eq!(make("origin", server.base()).send().await.expect("an answer").status(), 200);
    for host in ["evil.example", "localhost.evil.example:80", "169.254.169.254"] {
        let response =
            server.get("/chat/sessions").header("host", host).send().await.expect("an answer");
        assert_eq!(response.status(), 403, "{host}");
    }
}

#[tokio::test]
async fn metrics_need_the_internal_key_on_a_server_with_login() {
    let internal = "internal-internal-internal-internal";
    let server = jwt_server(&[("CHAT_INTERNAL_API_KEY", internal)]);
    let url = format!("{}/metrics", server.base());
    assert_eq!(server.client.get(&url).send().await.expect("an answer").status(), 401);
    assert_eq!(
        server
            .client
            .get(&url)
            .bearer_auth(token("anna"))
            .send()
            .await
            .expect("an answer")
            .status(),
        401
    );
    let metrics = server.client.get(&url).bearer_auth(internal).send().await.expect("an answer");
    assert_eq!(metrics.status(), 200);
    let text = metrics.text().await.expect("text");
    for name in [
        "pilothouse_queue_depth",
        "pilothouse_open_streams",
        "pilothouse_open_connections",
        "pilothouse_outbox_lag_seconds",
    ] {
        assert!(text.contains(name), "{name}");
    }
}
