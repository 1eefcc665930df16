//! Ids in UUID format whose bytes are those of a digest, so that the same content always has the same id.

use crate::text::hex;

/// A UUID of version 8 (custom) from the first 16 bytes of a digest, which must have at least as many.
pub fn digest_uuid(digest: &[u8]) -> String {
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = hex(&bytes);
    let group = |range| &digits[range];
    [group(0..8), group(8..12), group(12..16), group(16..20), group(20..32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_version_and_the_variant_of_a_custom_uuid() {
        let id = digest_uuid(&[0xff; 32]);
        assert_eq!(id, "ffffffff-ffff-8fff-bfff-ffffffffffff");
        assert_eq!(digest_uuid(&[0; 16]), "00000000-0000-8000-8000-000000000000");
    }
}
