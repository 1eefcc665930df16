//! What a block execution costs, by its usage.

use serde::Serialize;

/// The price of a block execution, in credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct BlockCost {
    #[serde(rename = "cost_type")]
    pub kind: CostKind,
    /// Credits for every started `per` units.
    #[serde(rename = "cost_amount")]
    pub amount: u64,
    pub per: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostKind {
    Run,
    Byte,
    Second,
    Items,
    /// Millionths of a dollar.
    CostUsd,
    Tokens,
}

/// The usage of a block execution, for its charge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeteredUsage {
    pub bytes: u64,
    pub seconds: u64,
    pub items: u64,
    pub microdollars: u64,
    pub tokens: u64,
}

/// The charge of one execution. `Run` is charged even when nothing else was used.
pub fn price(costs: &[BlockCost], used: &MeteredUsage) -> u64 {
    let of = |cost: &BlockCost| {
        let units = match cost.kind {
            CostKind::Run => 1,
            CostKind::Byte => used.bytes,
            CostKind::Second => used.seconds,
            CostKind::Items => used.items,
            CostKind::CostUsd => used.microdollars,
            CostKind::Tokens => used.tokens,
        };
        cost.amount.saturating_mul(units.div_ceil(cost.per.max(1)))
    };
    costs.iter().map(of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_counts_started_units() {
        const COSTS: &[BlockCost] = &[
            BlockCost { kind: CostKind::Run, amount: 2, per: 1 },
            BlockCost { kind: CostKind::Tokens, amount: 1, per: 1000 },
        ];
        assert_eq!(price(COSTS, &MeteredUsage::default()), 2);
        assert_eq!(price(COSTS, &MeteredUsage { tokens: 1001, ..MeteredUsage::default() }), 4);
        assert_eq!(price(&[], &MeteredUsage { tokens: 1001, ..MeteredUsage::default() }), 0);
    }
}
