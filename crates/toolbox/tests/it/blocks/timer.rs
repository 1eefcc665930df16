//! Time blocks, with a paused clock.

use std::time::Duration;

use ports::block::BlockError;
use serde_json::json;
use tokio::time::Instant;

use super::{block, context, run};

#[tokio::test(start_paused = true)]
async fn a_timer_waits_before_every_message() {
    let began = Instant::now();
    let input = json!({ "input_message": "ding", "seconds": 90, "minutes": "1", "repeat": 3 });
    let emitted = run(&*block("CountdownTimerBlock"), input, context()).await.expect("messages");
    assert_eq!(emitted, vec![("output_message".to_owned(), json!("ding")); 3]);
    assert_eq!(began.elapsed().as_secs(), 3 * 150);
}

#[tokio::test(start_paused = true)]
async fn a_canceled_timer_stops_waiting() {
    let (context, began) = (context(), Instant::now());
    let cancel = context.cancel.clone();
    let timer = block("CountdownTimerBlock");
    let stop = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    };
    let (stopped, ()) = tokio::join!(run(&*timer, json!({ "hours": 1 }), context), stop);
    assert_eq!(stopped, Err(BlockError::Stopped));
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn the_date_of_some_days_ago_is_returned() {
    let date = block("GetCurrentDateBlock");
    for (offset, day) in
        [(json!(0), "2026-06-21"), (json!("21"), "2026-05-31"), (json!(-10), "2026-07-01")]
    {
        let input = json!({ "trigger": "go", "offset": offset });
        let emitted = run(&*date, input, context()).await.expect("a date");
        assert_eq!(emitted, vec![("date".to_owned(), json!(day))]);
    }
    let far = json!({ "trigger": "go", "offset": i64::MAX });
    assert!(run(&*date, far, context()).await.is_err());
}
