//! Text as a statement parameter. Postgres cannot store NUL, and rejects a statement that contains one.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use protocol::text::without_nul;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// Replaces NUL by U+FFFD, as all other parts of the program do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextParam<'a>(pub(crate) &'a str);

impl ToSql for TextParam<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        if self.0.contains('\0') {
            out.put_slice(without_nul(self.0).as_bytes());
        } else {
            out.put_slice(self.0.as_bytes());
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        <&str as ToSql>::accepts(kind)
    }

    to_sql_checked!();
}

pub(crate) fn optional(text: Option<&str>) -> Option<TextParam<'_>> {
    text.map(TextParam)
}
