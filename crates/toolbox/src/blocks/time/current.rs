//! `GetCurrentTimeBlock`, `GetCurrentDateBlock` and `GetCurrentDateAndTimeBlock`.

use std::marker::PhantomData;

use jiff::ToSpan;
use ports::Clock;
use serde::de::DeserializeOwned;

use super::NumberOrText;
use super::format::{TimeFormat, TimePart};
use crate::blocks::prelude::*;

pub(crate) fn blocks(dependencies: &BlockDependencies) -> BlockList {
    let date = BlockSpec::new(
        "b29c1b50-5d0e-4d9f-8f9d-1b0e6fcbf0b1",
        "GetCurrentDateBlock",
        "Returns today's date, or the date a number of days ago.",
    );
    let date_and_time = BlockSpec::new(
        "716a67b3-6760-42e7-86dc-18645c6e00fc",
        "GetCurrentDateAndTimeBlock",
        "Returns the current date and time.",
    );
    let time = BlockSpec::new(
        "a892b8d9-3e4e-4e9c-9c1e-75f8efcf1bfa",
        "GetCurrentTimeBlock",
        "Returns the current time.",
    );
    let clock = &dependencies.clock;
    vec![
        current::<CurrentDateInput>(date, clock, TimePart::Date, "date"),
        current::<CurrentTimeInput>(date_and_time, clock, TimePart::DateAndTime, "date_time"),
        current::<CurrentTimeInput>(time, clock, TimePart::Time, "time"),
    ]
}

fn current<I: TimeInput>(
    spec: BlockSpec,
    clock: &Arc<dyn Clock>,
    part: TimePart,
    pin: &'static str,
) -> Arc<dyn Block> {
    let spec = spec
        .categories(&[BlockCategory::Text])
        .outputs([pin::text(pin, "The result, in the chosen format.")]);
    let written = |input: Value| BlockExample::shape(input, vec![(pin, json!("some time"))]);
    let day = json!({ "discriminator": "strftime", "format": "%d.%m.%Y" });
    let utc = json!({ "discriminator": "iso8601", "timezone": "UTC" });
    let examples = vec![
        written(json!({ "trigger": 1 })),
        written(json!({ "trigger": "go", "format_type": day })),
        written(json!({ "trigger": "go", "format_type": utc })),
    ];
    let clock = clock.clone();
    block(spec, examples, CurrentTime::<I> { clock, part, pin, input: PhantomData })
}

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

struct CurrentTime<I> {
    clock: Arc<dyn Clock>,
    part: TimePart,
    pin: &'static str,
    input: PhantomData<fn(I)>,
}

#[async_trait]
impl<I: TimeInput> TypedBlock for CurrentTime<I> {
    type Input = I;

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
}
