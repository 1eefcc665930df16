//! Text as a parameter. Postgres cannot hold NUL, and refuses a whole statement for the sake of one.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use protocol::text::without_nul;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// A parameter in which NUL is replaced, as it is everywhere else, by U+FFFD.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl ToSql for Text<'_> {
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

pub(super) fn optional(text: Option<&str>) -> Option<Text<'_>> {
    text.map(Text)
}
