//! Blocks that store values between runs.

mod scope;

blocks! {
    persist,
    retrieve,
}
