//! What time it is.

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

use super::Count;
use super::format::{Format, Part};
use crate::blocks::pure::About;
use crate::blocks::typed::{Typed, TypedBlock, outputs, text};

/// For the time, and the date with the time.
#[derive(Deserialize, JsonSchema)]
struct Now {
    /// Starts the block; what it is does not matter.
    #[expect(dead_code, reason = "that it is there is its meaning")]
    trigger: Value,
    /// How to write it: by a format of your own, or as ISO 8601 has it.
    #[serde(default)]
    format_type: Format,
}

/// For the date alone.
#[derive(Deserialize, JsonSchema)]
struct Day {
    /// Starts the block; what it is does not matter.
    #[expect(dead_code, reason = "that it is there is its meaning")]
    trigger: Value,
    /// How many days ago; negative for days to come.
    #[serde(default)]
    offset: Count,
    /// How to write it: by a format of your own, or as ISO 8601 has it.
    #[serde(default)]
    format_type: Format,
}

trait Asked: DeserializeOwned + JsonSchema + Send + 'static {
    fn format(&self) -> &Format;
    fn days_ago(&self) -> i64;
}

impl Asked for Now {
    fn format(&self) -> &Format {
        &self.format_type
    }

    fn days_ago(&self) -> i64 {
        0
    }
}

impl Asked for Day {
    fn format(&self) -> &Format {
        &self.format_type
    }

    fn days_ago(&self) -> i64 {
        self.offset.number().unwrap_or(0)
    }
}

struct Current<I> {
    spec: BlockSpec,
    clock: Arc<dyn Clock>,
    part: Part,
    pin: &'static str,
    input: PhantomData<fn(I)>,
}

pub(super) fn time(clock: Arc<dyn Clock>) -> Arc<dyn Block> {
    let about = About {
        id: "a892b8d9-3e4e-4e9c-9c1e-75f8efcf1bfa",
        name: "GetCurrentTimeBlock",
        description: "Tells the time of day.",
        categories: &[BlockCategory::Text],
    };
    block::<Now>(about, clock, Part::Time, "time")
}

pub(super) fn date(clock: Arc<dyn Clock>) -> Arc<dyn Block> {
    let about = About {
        id: "b29c1b50-5d0e-4d9f-8f9d-1b0e6fcbf0b1",
        name: "GetCurrentDateBlock",
        description: "Tells the date of today, or of so many days ago.",
        categories: &[BlockCategory::Text],
    };
    block::<Day>(about, clock, Part::Date, "date")
}

pub(super) fn date_and_time(clock: Arc<dyn Clock>) -> Arc<dyn Block> {
    let about = About {
        id: "716a67b3-6760-42e7-86dc-18645c6e00fc",
        name: "GetCurrentDateAndTimeBlock",
        description: "Tells the date and the time of day.",
        categories: &[BlockCategory::Text],
    };
    block::<Now>(about, clock, Part::DateAndTime, "date_time")
}

fn block<I: Asked>(
    about: About,
    clock: Arc<dyn Clock>,
    part: Part,
    pin: &'static str,
) -> Arc<dyn Block> {
    let spec = about.spec::<I>(outputs([text(pin, "What was asked for, as it was asked for.")]));
    Arc::new(Typed(Current::<I> { spec, clock, part, pin, input: PhantomData }))
}

#[async_trait]
impl<I: Asked> TypedBlock for Current<I> {
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
        let far = |_| BlockError::failed("That is too far from today.");
        let span = 0.days().try_days(input.days_ago()).map_err(far)?;
        let time = self.clock.now().to_zoned(format.zone()?).checked_sub(span).map_err(far)?;
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
