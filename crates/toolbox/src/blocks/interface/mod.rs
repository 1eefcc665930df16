//! Blocks that form an agent's interface: input and output blocks, and the webhook trigger. Unlike standard blocks,
//! input and output blocks have no `error` pin, because their pins are the agent's interface.

mod input;

blocks! {
    file,
    output,
    webhook,
    kinds,
}
