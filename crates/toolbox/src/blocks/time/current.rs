//! `GetCurrentTimeBlock`, `GetCurrentDateBlock` and `GetCurrentDateAndTimeBlock`.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::ToSpan;
use ports::block::{BlockContext, BlockError, BlockExample, OutputSink};
use ports::{Block, Clock};
use protocol::block::{BlockCategory, BlockSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::NumberOrText;
use super::format::{TimeFormat, TimePart};
use crate::blocks::pure::BlockIdentity;
use crate::blocks::typed::{TypedBlock, TypedBlockAdapter, outputs, text};

// Inputs of the time block and the date and time block.
#[derive(Deserialize, JsonSchema)]
struct CurrentTimeInput {
    /// Triggers the block. Its value is ignored.
    #[expect(dead_code, reason = "only its presence matters")]
    trigger: Value,
    /// The output format: a custom strftime format or ISO 8601.
    #[serde(default)]
    format_type: TimeFormat,
}

// Inputs of the date block.
#[derive(Deserialize, JsonSchema)]
struct CurrentDateInput {
    /// Triggers the block. Its value is ignored.
    #[expect(dead_code, reason = "only its presence matters")]
    trigger: Value,
    /// How many days to go back. Negative values give future dates.
    #[serde(default)]
    offset: NumberOrText,
    /// The output format: a custom strftime format or ISO 8601.
    #[serde(default)]
    format_type: TimeFormat,
}

trait TimeInput: DeserializeOwned + JsonSchema + Send + 'static {
    fn format(&self) -> &TimeFormat;
    fn days_ago(&self) -> i64;
}

impl TimeInput for CurrentTimeInput {
    fn format(&self) -> &TimeFormat {
        &self.format_type
    }

    fn days_ago(&self) -> i64 {
        0
    }
}

impl TimeInput for CurrentDateInput {
    fn format(&self) -> &TimeFormat {
        &self.format_type
    }

    fn days_ago(&self) -> i64 {
        self.offset.number().unwrap_or(0)
    }
}

struct CurrentTimeBlock<I> {
    spec: BlockSpec,
    clock: Arc<dyn Clock>,
    part: TimePart,
    pin: &'static str,
    input: PhantomData<fn(I)>,
}

pub(super) fn time(clock: Arc<dyn Clock>) -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "a892b8d9-3e4e-4e9c-9c1e-75f8efcf1bfa",
        name: "GetCurrentTimeBlock",
        description: "Returns the current time.",
        categories: &[BlockCategory::Text],
    };
    block::<CurrentTimeInput>(identity, clock, TimePart::Time, "time")
}

pub(super) fn date(clock: Arc<dyn Clock>) -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "b29c1b50-5d0e-4d9f-8f9d-1b0e6fcbf0b1",
        name: "GetCurrentDateBlock",
        description: "Returns today's date, or the date a number of days ago.",
        categories: &[BlockCategory::Text],
    };
    block::<CurrentDateInput>(identity, clock, TimePart::Date, "date")
}

pub(super) fn date_and_time(clock: Arc<dyn Clock>) -> Arc<dyn Block> {
    let identity = BlockIdentity {
        id: "716a67b3-6760-42e7-86dc-18645c6e00fc",
        name: "GetCurrentDateAndTimeBlock",
        description: "Returns the current date and time.",
        categories: &[BlockCategory::Text],
    };
    block::<CurrentTimeInput>(identity, clock, TimePart::DateAndTime, "date_time")
}

fn block<I: TimeInput>(
    identity: BlockIdentity,
    clock: Arc<dyn Clock>,
    part: TimePart,
    pin: &'static str,
) -> Arc<dyn Block> {
    let spec = identity.spec::<I>(outputs([text(pin, "The result, in the chosen format.")]));
    Arc::new(TypedBlockAdapter(CurrentTimeBlock::<I> {
        spec,
        clock,
        part,
        pin,
        input: PhantomData,
    }))
}

#[async_trait]
impl<I: TimeInput> TypedBlock for CurrentTimeBlock<I> {
    type Input = I;

    fn spec(&self) -> &BlockSpec {
        &self.spec
    }

    async fn run(
        &self,
        input: I,
        _context: BlockContext,
        out: &dyn OutputSink,
    ) -> Result<(), BlockError> {
        let format = input.format();
        let out_of_range = |_| BlockError::failed("`offset` is too large.");
        let span = 0.days().try_days(input.days_ago()).map_err(out_of_range)?;
        let time =
            self.clock.now().to_zoned(format.zone()?).checked_sub(span).map_err(out_of_range)?;
        out.emit(self.pin, format.write(&time, self.part)?.into()).await
    }

    fn examples(&self) -> Vec<BlockExample> {
        let written = |format: Value| {
            BlockExample::shape(
                json!({ "trigger": "go", "format_type": format }),
                vec![(self.pin, json!("some time"))],
            )
        };
        vec![
            BlockExample::shape(json!({ "trigger": 1 }), vec![(self.pin, json!("some time"))]),
            written(json!({ "discriminator": "strftime", "format": "%d.%m.%Y" })),
            written(json!({ "discriminator": "iso8601", "timezone": "UTC" })),
        ]
    }
}
