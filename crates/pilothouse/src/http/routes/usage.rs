//! Usage of a user's turns, in total and by day.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use ports::store::DailyUsage;
use protocol::usage::Usage;
use serde::Serialize;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::SignedInUser;
use crate::http::problem::ApiResult;
use crate::http::routes::ApiRoutes;

/// Listed days, including today.
const DAYS: i32 = 30;
const WEEK: i32 = 7;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(read))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct UsageReport {
    /// Null: there is no daily limit.
    daily: Option<UsageLimit>,
    /// Null: there is no weekly limit.
    weekly: Option<UsageLimit>,
    tier: &'static str,
    /// Credits for resetting a limit.
    reset_cost: u64,
    today: UsageTotals,
    /// The last seven days, including today.
    week: UsageTotals,
    /// Excludes deleted sessions.
    all_time: UsageTotals,
    /// The last thirty days in UTC, oldest first, including days without turns.
    days: Vec<UsageDay>,
}

/// How much of a limit is used.
#[derive(Serialize, utoipa::ToSchema)]
struct UsageLimit {
    percent_used: f64,
    #[schema(value_type = String, format = DateTime)]
    resets_at: Timestamp,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
struct UsageTotals {
    turns: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// Millionths of a dollar; null if no price is configured.
    cost_microdollars: Option<u64>,
}

#[derive(Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
struct UsageDay {
    #[schema(value_type = String, format = Date)]
    date: Date,
    #[serde(flatten)]
    totals: UsageTotals,
}

/// Read your usage.
#[utoipa::path(get, path = "/chat/usage", operation_id = "read_usage", tag = "service", responses((status = 200, description = "The usage report", body = UsageReport)))]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
) -> ApiResult<Json<UsageReport>> {
    let used = app.ports.reports.usage(&user).await?;
    let today = app.ports.clock.now().to_zoned(TimeZone::UTC).date();
    let days = last_days(&used, today);
    let week = days.iter().rev().take(WEEK as usize).map(|day| day.totals);
    Ok(Json(UsageReport {
        daily: None,
        weekly: None,
        tier: "self_hosted",
        reset_cost: 0,
        today: days.last().map(|day| day.totals).unwrap_or_default(),
        week: UsageTotals::of(week),
        all_time: UsageTotals::of(used.iter().map(UsageTotals::from)),
        days,
    }))
}

fn last_days(used: &[DailyUsage], today: Date) -> Vec<UsageDay> {
    let day = |ago: i32| {
        let date = today.saturating_sub(ago.days());
        let used = used.iter().filter(|day| day.date == date).map(UsageTotals::from);
        UsageDay { date, totals: UsageTotals::of(used) }
    };
    (0..DAYS).rev().map(day).collect()
}

impl From<&DailyUsage> for UsageTotals {
    fn from(day: &DailyUsage) -> Self {
        let Usage { prompt_tokens, completion_tokens, cost_microdollars, .. } = day.usage;
        Self { turns: day.turns, prompt_tokens, completion_tokens, cost_microdollars }
    }
}

impl UsageTotals {
    fn of(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            turns: sum.turns + part.turns,
            prompt_tokens: sum.prompt_tokens + part.prompt_tokens,
            completion_tokens: sum.completion_tokens + part.completion_tokens,
            cost_microdollars: match (sum.cost_microdollars, part.cost_microdollars) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn used(day: Date, turns: u64, cost_microdollars: Option<u64>) -> DailyUsage {
        let usage = Usage { prompt_tokens: 10, cost_microdollars, ..Usage::default() };
        DailyUsage { date: day, turns, usage }
    }

    #[test]
    fn every_day_is_listed_and_the_last_one_is_today() {
        let today = date(2026, 3, 2);
        let all = [
            used(date(2025, 1, 1), 9, Some(9)),
            used(date(2026, 2, 1), 1, Some(5)),
            used(today, 2, None),
        ];
        let days = last_days(&all, today);
        assert_eq!(days.len(), 30);
        assert_eq!((days[0].date, days[29].date), (date(2026, 2, 1), today));
        assert_eq!((days[0].totals.turns, days[0].totals.cost_microdollars), (1, Some(5)));
        assert_eq!((days[29].totals.turns, days[29].totals.cost_microdollars), (2, None));
        assert!(days[1..29].iter().all(|day| day.totals == UsageTotals::default()));
        let whole = UsageTotals::of(all.iter().map(UsageTotals::from));
        assert_eq!((whole.turns, whole.prompt_tokens), (12, 30));
        assert_eq!(whole.cost_microdollars, Some(14));
    }
}
