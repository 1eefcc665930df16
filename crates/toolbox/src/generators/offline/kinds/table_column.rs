//! Agents that total a column of a table, of all rows or of some.

use serde_json::{Value, json};

use super::{AgentKind, clean_name, number};
use crate::generators::offline::draft::{AgentDraft, Product, members};
use crate::generators::offline::goal::Goal;

pub(crate) const KIND: AgentKind = AgentKind {
    does: "total or filter a column of a CSV table",
    example: "An agent that totals the column amount of a CSV where status is open",
    fits,
    draft,
    reads_page: false,
};

const TABLES: &[&str] = &[
    "csv",
    "csvs",
    "spreadsheet*",
    "column*",
    "table",
    "tables",
    "rows",
    "comma-separated",
    "excel",
];
const STOPS: &[&str] = &[
    "of", "in", "from", "and", "where", "with", "for", "that", "which", "by", "is", "are",
    "equals", "column", "columns", "if", "whose", "only", "to",
];
const GENERIC: &[&str] = &[
    "", "a", "the", "one", "each", "every", "any", "csv", "table", "numeric", "number", "numbers",
];

fn fits(goal: &Goal<'_>) -> bool {
    goal.has(TABLES)
}

/// The rows to keep.
struct RowFilter {
    column: String,
    /// A comparison of the template language.
    operator: &'static str,
    value: Value,
}

fn named(text: &str) -> Option<String> {
    let trimmed = text.trim_start_matches("the ").trim_start_matches("a ");
    let name = clean_name(trimmed);
    let is_name =
        name.split_whitespace().count() <= 2 && !GENERIC.contains(&name.to_lowercase().as_str());
    is_name.then_some(name)
}

/// The column to total: "the column amount", "the amount column", "the sum of the prices".
fn column(goal: &Goal<'_>) -> Option<String> {
    let words = &goal.words;
    if let Some((at, after)) = words.find("column").or_else(|| words.find("columns")) {
        let quoted = goal.quoted().first().copied().and_then(named);
        let follows = words.after(&["column called", "column named"]).unwrap_or(after);
        // "the amount column": an article begins it.
        let precedes = at.checked_sub(1).filter(|before| *before > 0).and_then(|before| {
            let is_article =
                matches!(words.word(before - 1), Some("the" | "a" | "an" | "of" | "up"));
            is_article.then(|| named(words.span(before, at))).flatten()
        });
        let follows =
            || named(words.clause_from(follows, STOPS)).filter(|_| !starts_clause(goal, follows));
        return quoted.or(precedes).or_else(follows);
    }
    let from = words.after(&[
        "sum of", "total of", "sums up", "sum up", "adds up", "add up", "totals", "total", "sums",
    ])?;
    named(words.clause_from(from, STOPS))
}

/// Whether the word after "column" belongs to something else: "the amount column of a CSV".
fn starts_clause(goal: &Goal<'_>, at: usize) -> bool {
    goal.words.word(at).is_none_or(|word| STOPS.contains(&word))
}

fn row_filter(goal: &Goal<'_>) -> Option<RowFilter> {
    let words = &goal.words;
    let from = words.after(&["where", "whose", "rows with", "lines with", "only if"])?;
    let from = if matches!(words.word(from), Some("the" | "a")) { from + 1 } else { from };
    const COMPARISONS: [(&str, &str); 16] = [
        ("is more than", ">"),
        ("is greater than", ">"),
        ("is above", ">"),
        ("is over", ">"),
        ("exceeds", ">"),
        ("above", ">"),
        ("over", ">"),
        ("more than", ">"),
        ("is less than", "<"),
        ("is below", "<"),
        ("is under", "<"),
        ("below", "<"),
        ("under", "<"),
        ("less than", "<"),
        ("is", "=="),
        ("equals", "=="),
    ];
    let compared = COMPARISONS.iter().find_map(|(phrase, operator)| {
        words.find(phrase).filter(|(at, _)| *at > from).map(|found| (found, *operator))
    });
    let ((at, after), operator) = compared.unwrap_or(((from + 1, from + 1), "=="));
    let column = named(words.span(from, at).trim_end_matches(" column"))?;
    if operator != "==" {
        return Some(RowFilter { column, operator, value: number(words.number_within(after, 2)?) });
    }
    let value = words.clause_from(after, &["and", "then"]).trim();
    let value = value.trim_matches(['“', '”', '"', '\'']);
    (!value.is_empty()).then(|| RowFilter { column, operator, value: json!(value) })
}

const TOTAL: &str =
    "{{ rows | map(attribute=column) | map('replace', ',', '') | map('float') | sum | round(2) }}";

fn draft(goal: &Goal<'_>) -> AgentDraft {
    let filter = row_filter(goal);
    let column = column(goal)
        .filter(|column| {
            filter.as_ref().is_none_or(|filter| filter.column != *column || filter.operator != "==")
        })
        .unwrap_or_else(|| "amount".to_owned());
    let mut inputs = members(json!({
        "table": {
            "type": "text", "title": "Table", "description": "The table as CSV, with column names in the first line",
            "default": sample_table(&column, filter.as_ref()),
        },
        "column": {"type": "string", "default": column, "title": "Column to total"},
    }));
    let mut steps = members(json!({
        "read": {"block": "Read Spreadsheet", "label": "Read the table", "contents": "inputs.table"},
    }));
    let rows = match &filter {
        Some(filter) => {
            inputs.extend(members(filter_inputs(filter)));
            steps.extend(members(filter_steps(filter)));
            "kept.data"
        }
        None => "read.rows",
    };
    steps.extend(members(json!({
        "added": {
            "block": "Fill Text Template", "label": "Add up the column", "format": TOTAL,
            "values": {"rows": rows, "column": "inputs.column"},
        },
        "total": {
            "block": "Universal Type Converter", "label": "Read the total", "value": "added.output", "type": "number",
        },
        "counted": {"block": "Count Items", "label": "Count the rows", "collection": rows},
        "summary": {
            "block": "Fill Text Template", "label": "Write the report",
            "format": "The column “{{column}}” adds up to {{added.output}} in {{counted.count}} rows.",
        },
    })));
    let mut outputs = members(json!({
        "total": "total.value", "row_count": "counted.count", "summary": "summary.output",
    }));
    if filter.is_some() {
        outputs.insert("rows".to_owned(), json!("kept.data"));
    }
    let which = if filter.is_some() { "the matching rows" } else { "all rows" };
    AgentDraft {
        name: "Column total".to_owned(),
        description: format!("Reads a CSV table and adds up a column of {which}."),
        inputs,
        steps,
        outputs,
        product: Product {
            noun: "report",
            from: "summary.output".to_owned(),
            otherwise: Vec::new(),
        },
    }
}

fn filter_inputs(filter: &RowFilter) -> Value {
    let kind = if filter.operator == "==" { "string" } else { "number" };
    json!({
        "filter_column": {"type": "string", "default": filter.column, "title": "Column to filter by"},
        "filter_value": {"type": kind, "default": filter.value, "title": "Value to compare with"},
    })
}

/// Writes the kept rows as JSON and reads them again: a template makes texts only.
fn filter_steps(filter: &RowFilter) -> Value {
    let condition = match filter.operator {
        "==" => "row[filter_column] == filter_value".to_owned(),
        operator => {
            format!("row[filter_column] | replace(',', '') | float {operator} filter_value | float")
        }
    };
    let format = format!(
        "[{{% for row in rows if {condition} %}}{{% if not loop.first %}},{{% endif %}}{{{{ row | tojson }}}}{{% endfor %}}]"
    );
    json!({
        "matching": {
            "block": "Fill Text Template", "label": "Keep the matching rows", "format": format,
            "values": {
                "rows": "read.rows", "filter_column": "inputs.filter_column", "filter_value": "inputs.filter_value",
            },
        },
        "kept": {"block": "JSON Decoder", "label": "Read the kept rows", "json_str": "matching.output"},
    })
}

/// A table with the columns that the goal names, so that the agent can be tried at once.
fn sample_table(column: &str, filter: Option<&RowFilter>) -> String {
    let amounts = ["60", "64.5", "12.5"];
    let items = ["Rope", "Anchor", "Paint"];
    let filter = filter.filter(|filter| filter.column != column);
    let mut lines = vec![match filter {
        Some(filter) => format!("item,{column},{}", filter.column),
        None => format!("item,{column}"),
    }];
    for (at, (item, amount)) in items.iter().zip(amounts).enumerate() {
        let kept = at < 2;
        let value = filter.map(|filter| match (&filter.value, kept) {
            (Value::String(text), true) => text.clone(),
            (Value::String(_), false) => "other".to_owned(),
            (value, _) => {
                let limit = value.as_f64().unwrap_or_default();
                let inside = if filter.operator == ">" { 1.0 } else { -1.0 };
                number(limit + if kept { inside } else { -inside }).to_string()
            }
        });
        lines.push(match value {
            Some(value) => format!("{item},{amount},{value}"),
            None => format!("{item},{amount}"),
        });
    }
    lines.join("\n")
}
