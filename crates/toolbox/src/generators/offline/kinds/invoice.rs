//! Agents that total an invoice.

use serde_json::json;

use super::{AgentKind, number};
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "total an invoice with its tax",
    example: "An agent that totals an invoice with 21 % tax and asks me before sending it",
    fits,
    draft,
    reads_page: false,
};

const INVOICES: &[&str] = &[
    "invoice*",
    "bill",
    "bills",
    "billing",
    "receipt*",
    "quote",
    "quotes",
    "quotation*",
    "order lines",
    "line items",
    "estimate",
    "estimates",
];

fn fits(goal: &Goal<'_>) -> bool {
    goal.has(INVOICES) && !goal.has(&["csv", "column*", "spreadsheet*"])
}

/// Adds each line, as floating-point numbers: values from a form may be texts.
const NET: &str = "{% set amounts %}{% for line in lines %}{{ line.quantity | float * line.price | float }};\
                   {% endfor %}{% endset %}{{ amounts.split(';') | map('float') | sum | round(2) }}";
const INVOICE: &str = "Invoice for {{customer}}\n\n\
                       {% for line in lines %}{{ line.quantity }} x {{ line.item }} at \
                       {{ line.price | float | format('%.2f') }}\n{% endfor %}\n\
                       Net: {{net.value | format('%.2f')}}\n\
                       Tax ({{tax_percent}} %): {{tax.result | format('%.2f')}}\n\
                       Total: {{sum.result | format('%.2f')}}";

fn draft(goal: &Goal<'_>) -> AgentDraft {
    let tax = goal.words.percent().unwrap_or(0.0);
    let inputs = json!({
        "customer": {"type": "string", "default": "Harbor Supplies", "title": "Customer"},
        "lines": {
            "type": "table", "columns": ["item", "quantity", "price"], "title": "Lines",
            "description": "What is charged: item, quantity and price of one",
            "default": [
                {"item": "Rope", "quantity": 2, "price": 30},
                {"item": "Anchor", "quantity": 1, "price": 64},
            ],
        },
        "tax_percent": {"type": "number", "default": number(tax), "title": "Tax in percent"},
    });
    let steps = json!({
        "amounts": {
            "block": "Fill Text Template", "label": "Add up the lines", "format": NET,
            "values": {"lines": "inputs.lines"},
        },
        "net": {
            "block": "Universal Type Converter", "label": "Read the net amount",
            "value": "amounts.output", "type": "number",
        },
        "tax_rate": {
            "block": "Calculator", "label": "Turn the tax into a rate", "operation": "Divide",
            "a": "inputs.tax_percent", "b": 100,
        },
        "tax": {
            "block": "Calculator", "label": "Calculate the tax", "operation": "Multiply",
            "a": "net.value", "b": "tax_rate.result",
        },
        "sum": {
            "block": "Calculator", "label": "Add the tax", "operation": "Add",
            "a": "net.value", "b": "tax.result",
        },
        "total": {
            "block": "Universal Type Converter", "label": "Round the total",
            "value": "{{sum.result | round(2)}}", "type": "number",
        },
        "invoice": {
            "block": "Fill Text Template", "label": "Write the invoice", "format": INVOICE,
            "values": {"lines": "inputs.lines"},
        },
    });
    AgentDraft {
        name: "Invoice total".to_owned(),
        description: "Adds up the lines of an invoice and its tax, and writes the invoice."
            .to_owned(),
        inputs: members(inputs),
        steps: members(steps),
        outputs: members(json!({"total": "total.value", "invoice": "invoice.output"})),
        product: Product {
            noun: "invoice",
            from: "invoice.output".to_owned(),
            otherwise: Vec::new(),
        },
    }
}
