//! Evaluates expressions: names, fields, items and slices; operators and filters are delegated.

use minijinja::machinery::ast::{BinOpKind, Call, CallArg, Expr, Slice, UnaryOpKind};
use minijinja::value::ValueKind;
use serde_json::{Map, Value};

use super::TemplateError;
use super::checks::check;
use super::evaluate::TemplateRenderer;
use super::filters::{self, CallArguments};
use super::operators;
use super::value::TemplateValue;
use crate::values::place;

impl<'r> TemplateRenderer<'r> {
    pub(crate) fn expression(
        &mut self,
        expression: &'r Expr<'r>,
    ) -> Result<TemplateValue<'r>, TemplateError> {
        self.budget.step()?;
        match expression {
            Expr::Var(name) => Ok(self.name(name.id)),
            Expr::Const(constant) => Ok(literal(&constant.value)),
            Expr::GetAttr(get) => {
                let of = self.expression(&get.expr)?;
                self.field(&of, get.name)
            }
            Expr::GetItem(get) => {
                let of = self.expression(&get.expr)?;
                let key = self.expression(&get.subscript_expr)?;
                self.item(&of, &key)
            }
            Expr::Slice(slice) => self.slice(slice),
            Expr::UnaryOp(unary) => {
                let value = self.expression(&unary.expr)?;
                match unary.op {
                    UnaryOpKind::Not => Ok(TemplateValue::computed(!value.truth())),
                    UnaryOpKind::Neg => operators::negative(&value),
                }
            }
            Expr::BinOp(binary) => {
                let left = self.expression(&binary.left)?;
                match (binary.op, left.truth()) {
                    (BinOpKind::ScAnd, false) | (BinOpKind::ScOr, true) => return Ok(left),
                    (BinOpKind::ScAnd, true) | (BinOpKind::ScOr, false) => {
                        return self.expression(&binary.right);
                    }
                    _ => {}
                }
                let right = self.expression(&binary.right)?;
                operators::binary(binary.op, &left, &right, self.budget)
            }
            Expr::Compare(compare) => {
                let mut left = self.expression(&compare.expr)?;
                for step in &compare.ops {
                    let right = self.expression(&step.expr)?;
                    if !operators::compare(step.op, &left, &right, self.budget)? {
                        return Ok(TemplateValue::computed(false));
                    }
                    left = right;
                }
                Ok(TemplateValue::computed(true))
            }
            Expr::IfExpr(choice) => {
                let is_true = self.expression(&choice.test_expr)?.truth();
                match (is_true, &choice.false_expr) {
                    (true, _) => self.expression(&choice.true_expr),
                    (false, Some(otherwise)) => self.expression(otherwise),
                    (false, None) => Ok(TemplateValue::Undefined),
                }
            }
            Expr::Filter(filter) => {
                let Some(operand) = &filter.expr else {
                    return Err(TemplateError::failed("a filter has no value to filter"));
                };
                let operand = self.expression(operand)?;
                self.apply(filter.name, operand, &filter.args)
            }
            Expr::Test(test) => {
                let value = self.expression(&test.expr)?;
                let arguments = self.arguments(&test.args)?;
                check(test.name, &value, &arguments, self.budget).map(TemplateValue::computed)
            }
            Expr::Call(call) => self.method(call),
            Expr::List(list) => self.list(&list.items),
            Expr::Tuple(tuple) => self.list(&tuple.items),
            Expr::Map(map) => {
                let mut fields = Map::new();
                for (key, value) in map.keys.iter().zip(&map.values) {
                    let key = self.expression(key)?.to_text(self.budget)?.into_owned();
                    self.budget.charge(key.len())?;
                    fields.insert(key, self.expression(value)?.to_value(self.budget)?);
                }
                Ok(TemplateValue::computed(fields))
            }
        }
    }

    pub(crate) fn apply(
        &mut self,
        name: &str,
        operand: TemplateValue<'r>,
        arguments: &'r [CallArg<'r>],
    ) -> Result<TemplateValue<'r>, TemplateError> {
        let arguments = self.arguments(arguments)?;
        filters::apply(name, operand, &arguments, self.budget)
    }

    fn name(&self, name: &str) -> TemplateValue<'r> {
        match self.scope.find(name) {
            Some(value) => value.clone(),
            None => self.values.get(name).map_or(TemplateValue::Undefined, TemplateValue::Input),
        }
    }

    /// A field of a dictionary. Python methods are handled as calls, not fields.
    fn field(
        &self,
        of: &TemplateValue<'r>,
        name: &str,
    ) -> Result<TemplateValue<'r>, TemplateError> {
        match of {
            TemplateValue::Undefined => {
                Err(TemplateError::failed(format!("cannot read `{name}` of an undefined value")))
            }
            TemplateValue::Loop(position) => {
                Ok(position.attribute(name).unwrap_or(TemplateValue::Undefined))
            }
            _ => of.part(self.budget, |value| value.as_object()?.get(name)),
        }
    }

    fn item(
        &self,
        of: &TemplateValue<'r>,
        key: &TemplateValue<'r>,
    ) -> Result<TemplateValue<'r>, TemplateError> {
        if let Some(name) = key.text() {
            return self.field(of, name);
        }
        let Some(index) = key.integer() else { return Ok(TemplateValue::Undefined) };
        if let Some(text) = of.text() {
            self.budget.charge_read(text.len())?;
            let at = place(index, text.chars().count());
            let letter = at.and_then(|at| text.chars().nth(at));
            return Ok(letter.map_or(TemplateValue::Undefined, |letter| {
                TemplateValue::computed(letter.to_string())
            }));
        }
        of.part(self.budget, |value| match value {
            Value::Array(items) => items.get(place(index, items.len())?),
            Value::Object(fields) => fields.get(&index.to_string()),
            _ => None,
        })
    }

    fn slice(&mut self, slice: &'r Slice<'r>) -> Result<TemplateValue<'r>, TemplateError> {
        let of = self.expression(&slice.expr)?;
        let mut bound = |end: &'r Option<Expr<'r>>| match end {
            Some(end) => self.expression(end).map(|value| value.integer()),
            None => Ok(None),
        };
        let (start, stop, step) = (bound(&slice.start)?, bound(&slice.stop)?, bound(&slice.step)?);
        operators::slice(&of, start, stop, step.unwrap_or(1), self.budget)
    }

    fn list(&mut self, items: &'r [Expr<'r>]) -> Result<TemplateValue<'r>, TemplateError> {
        let mut list = Vec::new();
        for item in items {
            list.push(self.expression(item)?.to_value(self.budget)?);
        }
        Ok(TemplateValue::computed(list))
    }

    /// Python-style method calls: `text.upper()` is the filter `upper`.
    fn method(&mut self, call: &'r Call<'r>) -> Result<TemplateValue<'r>, TemplateError> {
        let Expr::GetAttr(method) = &call.expr else {
            return Err(TemplateError::failed("functions are not supported"));
        };
        let of = self.expression(&method.expr)?;
        let arguments = self.arguments(&call.args)?;
        filters::method(method.name, of, &arguments, self.budget)
    }

    fn arguments(
        &mut self,
        arguments: &'r [CallArg<'r>],
    ) -> Result<CallArguments<'r>, TemplateError> {
        let mut evaluated = CallArguments::default();
        for argument in arguments {
            match argument {
                CallArg::Pos(expression) => {
                    let value = self.expression(expression)?;
                    evaluated.positional.push(value);
                }
                CallArg::Kwarg(name, expression) => {
                    let value = self.expression(expression)?;
                    evaluated.named.push((*name, value));
                }
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                    return Err(TemplateError::failed("`*` arguments are not supported"));
                }
            }
        }
        Ok(evaluated)
    }

    /// The items a loop iterates over.
    pub(crate) fn items(
        &self,
        iterable: &TemplateValue<'r>,
    ) -> Result<Vec<TemplateValue<'r>>, TemplateError> {
        const ITEM_BYTES: usize = size_of::<TemplateValue<'static>>();
        match iterable {
            TemplateValue::Undefined => Ok(Vec::new()),
            TemplateValue::Input(Value::Array(items)) => {
                self.budget.charge(items.len().saturating_mul(ITEM_BYTES))?;
                Ok(items.iter().map(TemplateValue::Input).collect())
            }
            TemplateValue::Input(Value::Object(fields)) => {
                self.budget.charge(fields.len().saturating_mul(ITEM_BYTES))?;
                Ok(fields.keys().map(|key| TemplateValue::Literal(key.as_str())).collect())
            }
            _ => filters::elements(iterable, self.budget)?
                .into_iter()
                .map(|item| {
                    self.budget.charge(ITEM_BYTES)?;
                    Ok(TemplateValue::computed(item))
                })
                .collect(),
        }
    }
}

/// A literal in the template.
fn literal<'r>(value: &'r minijinja::Value) -> TemplateValue<'r> {
    if let Some(text) = value.as_str() {
        return TemplateValue::Literal(text);
    }
    match value.kind() {
        ValueKind::Bool => TemplateValue::computed(value.is_true()),
        ValueKind::Number => match value.as_i64() {
            Some(whole) if value.is_integer() => TemplateValue::computed(whole),
            _ => f64::try_from(value.clone())
                .map_or(TemplateValue::computed(Value::Null), TemplateValue::computed),
        },
        _ => TemplateValue::computed(Value::Null),
    }
}
