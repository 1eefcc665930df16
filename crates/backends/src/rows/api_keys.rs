//! Rows of API keys.

use ports::store::ApiKey;

use super::StoreRow;

macro_rules! api_key_columns {
    () => {
        "id, name, head, created_at"
    };
}

pub(crate) use api_key_columns;

pub(crate) fn api_key<R: StoreRow>(row: &R) -> Result<ApiKey, R::Error> {
    Ok(ApiKey {
        id: row.text("id")?,
        name: row.text("name")?,
        head: row.text("head")?,
        created_at: row.time("created_at")?,
    })
}
