//! Tokens as an issuer would sign them.

use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";

pub(crate) fn claims(user: &str, seconds: i64) -> Value {
    let now = now();
    json!({"sub": user, "aud": "authenticated", "iss": "test", "exp": now + seconds})
}

#[expect(clippy::disallowed_methods, reason = "an issuer of tokens looks at its own clock")]
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

pub(crate) fn sign(header: &Header, claims: &Value, key: &[u8]) -> String {
    encode(header, claims, &EncodingKey::from_secret(key)).expect("signed")
}

pub(crate) fn token(user: &str) -> String {
    sign(&Header::default(), &claims(user, 600), KEY.as_bytes())
}
