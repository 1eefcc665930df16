//! `CountdownTimerBlock`: emits a message after a delay.

use std::time::Duration;

use protocol::limits::EXECUTION_TIME;

use super::NumberOrText;
use crate::blocks::prelude::*;

const MAX_REPETITIONS: u32 = 1000;

#[derive(Deserialize, JsonSchema)]
struct CountdownInput {
    /// The message to output when the time is up.
    #[serde(default = "finished")]
    input_message: Value,
    /// Seconds to wait.
    #[serde(default)]
    seconds: NumberOrText,
    /// Minutes to wait.
    #[serde(default)]
    minutes: NumberOrText,
    /// Hours to wait.
    #[serde(default)]
    hours: NumberOrText,
    /// Days to wait.
    #[serde(default)]
    days: NumberOrText,
    /// How many times to wait and output the message.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 1000))]
    repeat: u32,
}

fn finished() -> Value {
    json!("timer finished")
}

fn once() -> u32 {
    1
}

pub(crate) fn blocks(_: &BlockDependencies) -> BlockList {
    let spec = BlockSpec::new(
        "d67a9c52-5e4e-11e2-bcfd-0800200c9a71",
        "CountdownTimerBlock",
        "Waits for a given time, then outputs a message, once or repeatedly.",
    )
    .categories(&[BlockCategory::Text])
    .outputs([pin::any("output_message", "The message, each time the time is up.")])
    .coordinates();
    let message = |message: Value| ("output_message", message);
    let examples = vec![
        BlockExample::exactly(json!({}), vec![message(json!("timer finished"))]),
        BlockExample::exactly(
            json!({ "input_message": { "go": 1 }, "seconds": "0", "repeat": 2 }),
            vec![message(json!({ "go": 1 })), message(json!({ "go": 1 }))],
        ),
    ];
    vec![block(spec, examples, Countdown)]
}

struct Countdown;

#[async_trait]
impl TypedBlock for Countdown {
    type Input = CountdownInput;

    async fn run(
        &self,
        input: CountdownInput,
        context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        if !(1..=MAX_REPETITIONS).contains(&input.repeat) {
            return Err(BlockError::failed(format!(
                "`repeat` must be between 1 and {MAX_REPETITIONS}."
            )));
        }
        // A rehearsal does not wait.
        let wait = if context.dry_run { Duration::ZERO } else { wait(&input)? };
        for _ in 0..input.repeat {
            tokio::select! {
                biased;
                () = context.cancel.cancelled() => return Err(BlockError::Stopped),
                () = tokio::time::sleep(wait), if !wait.is_zero() => {}
                () = std::future::ready(()), if wait.is_zero() => {}
            }
            out.emit("output_message", input.input_message.clone()).await?;
        }
        Ok(())
    }
}

/// The length of each wait. A total longer than an execution's time limit is rejected immediately.
fn wait(input: &CountdownInput) -> Result<Duration, BlockError> {
    let parts =
        [(&input.seconds, 1), (&input.minutes, 60), (&input.hours, 3600), (&input.days, 86_400)];
    let mut total = 0_i64;
    for (count, seconds) in parts {
        let count = count
            .number()
            .ok_or_else(|| BlockError::failed("The time to wait must be a number."))?;
        total = total.saturating_add(count.saturating_mul(seconds));
    }
    let wait = Duration::from_secs(u64::try_from(total).unwrap_or(0));
    if wait.saturating_mul(input.repeat) > EXECUTION_TIME {
        let hours = EXECUTION_TIME.as_secs() / 3600;
        return Err(BlockError::failed(format!(
            "The wait is longer than the {hours} hours that a run may take."
        )));
    }
    Ok(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(input: Value) -> Result<u64, BlockError> {
        wait(&serde_json::from_value(input).expect("an input")).map(|wait| wait.as_secs())
    }

    #[test]
    fn the_wait_is_the_sum_of_its_parts() {
        assert_eq!(
            waits(json!({ "seconds": 1, "minutes": "2", "hours": 3 })),
            Ok(1 + 120 + 10_800)
        );
        assert_eq!(waits(json!({ "days": 1 })), Ok(86_400));
        assert_eq!(waits(json!({ "seconds": -5 })), Ok(0));
        assert!(waits(json!({ "seconds": "soon" })).is_err());
        assert!(waits(json!({ "days": 1, "repeat": 2 })).is_err());
        assert!(waits(json!({ "days": i64::MAX })).is_err());
    }
}
