//! Blocks that branch, calculate and iterate.

blocks! {
    calculator,
    condition,
    matches,
    step_through,
}
