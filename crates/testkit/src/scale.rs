//! The size of tests that repeat something: seeds, kill points, races. `make test` uses the size given in the test;
//! `TEST_SCALE` multiplies it, and `make soak` sets `TEST_SCALE`.

/// `size`, times `TEST_SCALE`.
#[expect(clippy::disallowed_methods, reason = "the size of a test run is set in its environment")]
pub fn scaled(size: usize) -> usize {
    let scale = std::env::var("TEST_SCALE").ok();
    let scale = scale.map_or(1, |text| text.parse().expect("TEST_SCALE is a whole number"));
    size * scale
}
