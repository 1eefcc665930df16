//! The size of tests that repeat something: seeds, kill points, races. `make test` uses the size a test names;
//! `TEST_SCALE` multiplies it, and `make soak` sets that.

/// `size`, times `TEST_SCALE`.
#[expect(clippy::disallowed_methods, reason = "the size of a test is set by whoever starts it")]
pub fn scaled(size: usize) -> usize {
    let scale = std::env::var("TEST_SCALE").ok();
    let scale = scale.map_or(1, |text| text.parse().expect("TEST_SCALE is a whole number"));
    size * scale
}
