//! Expressions: looking things up, and handing the rest to operators and filters.

use minijinja::machinery::ast::{BinOpKind, Call, CallArg, Expr, Slice, UnaryOpKind};
use minijinja::value::ValueKind;
use serde_json::{Map, Value};

use super::TemplateError;
use super::checks::check;
use super::evaluate::Render;
use super::filters::{self, Arguments};
use super::operators;
use super::term::Term;
use crate::values::place;

impl<'r> Render<'r> {
    pub(super) fn expression(
        &mut self,
        expression: &'r Expr<'r>,
    ) -> Result<Term<'r>, TemplateError> {
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
                let term = self.expression(&unary.expr)?;
                match unary.op {
                    UnaryOpKind::Not => Ok(Term::made(!term.truth())),
                    UnaryOpKind::Neg => operators::negative(&term),
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
                        return Ok(Term::made(false));
                    }
                    left = right;
                }
                Ok(Term::made(true))
            }
            Expr::IfExpr(choice) => {
                let met = self.expression(&choice.test_expr)?.truth();
                match (met, &choice.false_expr) {
                    (true, _) => self.expression(&choice.true_expr),
                    (false, Some(otherwise)) => self.expression(otherwise),
                    (false, None) => Ok(Term::Undefined),
                }
            }
            Expr::Filter(filter) => {
                let Some(operand) = &filter.expr else {
                    return Err(TemplateError::failed("a filter stands alone"));
                };
                let operand = self.expression(operand)?;
                self.apply(filter.name, operand, &filter.args)
            }
            Expr::Test(test) => {
                let term = self.expression(&test.expr)?;
                let arguments = self.arguments(&test.args)?;
                check(test.name, &term, &arguments, self.budget).map(Term::made)
            }
            Expr::Call(call) => self.method(call),
            Expr::List(list) => self.list(&list.items),
            Expr::Tuple(tuple) => self.list(&tuple.items),
            Expr::Map(map) => {
                let mut fields = Map::new();
                for (key, value) in map.keys.iter().zip(&map.values) {
                    let key = self.expression(key)?.printed(self.budget)?.into_owned();
                    self.budget.pay(key.len())?;
                    fields.insert(key, self.expression(value)?.to_value(self.budget)?);
                }
                Ok(Term::made(fields))
            }
        }
    }

    pub(super) fn apply(
        &mut self,
        name: &str,
        operand: Term<'r>,
        arguments: &'r [CallArg<'r>],
    ) -> Result<Term<'r>, TemplateError> {
        let arguments = self.arguments(arguments)?;
        filters::apply(name, operand, &arguments, self.budget)
    }

    fn name(&self, name: &str) -> Term<'r> {
        match self.scope.find(name) {
            Some(term) => term.clone(),
            None => self.values.get(name).map_or(Term::Undefined, Term::Given),
        }
    }

    /// A field of a dictionary. Python's methods are not fields: they are calls.
    fn field(&self, of: &Term<'r>, name: &str) -> Result<Term<'r>, TemplateError> {
        match of {
            Term::Undefined => {
                Err(TemplateError::failed(format!("`{name}` of nothing is asked for")))
            }
            Term::Round(round) => Ok(round.attribute(name).unwrap_or(Term::Undefined)),
            _ => of.part(self.budget, |value| value.as_object()?.get(name)),
        }
    }

    fn item(&self, of: &Term<'r>, key: &Term<'r>) -> Result<Term<'r>, TemplateError> {
        if let Some(name) = key.text() {
            return self.field(of, name);
        }
        let Some(index) = key.integer() else { return Ok(Term::Undefined) };
        if let Some(text) = of.text() {
            self.budget.look(text.len())?;
            let at = place(index, text.chars().count());
            let letter = at.and_then(|at| text.chars().nth(at));
            return Ok(letter.map_or(Term::Undefined, |letter| Term::made(letter.to_string())));
        }
        of.part(self.budget, |value| match value {
            Value::Array(items) => items.get(place(index, items.len())?),
            Value::Object(fields) => fields.get(&index.to_string()),
            _ => None,
        })
    }

    fn slice(&mut self, slice: &'r Slice<'r>) -> Result<Term<'r>, TemplateError> {
        let of = self.expression(&slice.expr)?;
        let mut bound = |end: &'r Option<Expr<'r>>| match end {
            Some(end) => self.expression(end).map(|term| term.integer()),
            None => Ok(None),
        };
        let (start, stop, step) = (bound(&slice.start)?, bound(&slice.stop)?, bound(&slice.step)?);
        operators::slice(&of, start, stop, step.unwrap_or(1), self.budget)
    }

    fn list(&mut self, items: &'r [Expr<'r>]) -> Result<Term<'r>, TemplateError> {
        let mut list = Vec::new();
        for item in items {
            list.push(self.expression(item)?.to_value(self.budget)?);
        }
        Ok(Term::made(list))
    }

    /// `text.upper()` is the filter `upper`, for those who write templates as they write Python.
    fn method(&mut self, call: &'r Call<'r>) -> Result<Term<'r>, TemplateError> {
        let Expr::GetAttr(method) = &call.expr else {
            return Err(TemplateError::failed("functions are not available"));
        };
        let of = self.expression(&method.expr)?;
        let arguments = self.arguments(&call.args)?;
        filters::method(method.name, of, &arguments, self.budget)
    }

    fn arguments(&mut self, arguments: &'r [CallArg<'r>]) -> Result<Arguments<'r>, TemplateError> {
        let mut read = Arguments::default();
        for argument in arguments {
            match argument {
                CallArg::Pos(expression) => {
                    let term = self.expression(expression)?;
                    read.positional.push(term);
                }
                CallArg::Kwarg(name, expression) => {
                    let term = self.expression(expression)?;
                    read.named.push((*name, term));
                }
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => {
                    return Err(TemplateError::failed("`*` arguments are not available"));
                }
            }
        }
        Ok(read)
    }

    /// What a loop goes through.
    pub(super) fn items(&self, over: &Term<'r>) -> Result<Vec<Term<'r>>, TemplateError> {
        const PLACE: usize = size_of::<Term<'static>>();
        match over {
            Term::Undefined => Ok(Vec::new()),
            Term::Given(Value::Array(items)) => {
                self.budget.pay(items.len().saturating_mul(PLACE))?;
                Ok(items.iter().map(Term::Given).collect())
            }
            Term::Given(Value::Object(fields)) => {
                self.budget.pay(fields.len().saturating_mul(PLACE))?;
                Ok(fields.keys().map(|key| Term::Word(key.as_str())).collect())
            }
            _ => filters::elements(over, self.budget)?
                .into_iter()
                .map(|item| {
                    self.budget.pay(PLACE)?;
                    Ok(Term::made(item))
                })
                .collect(),
        }
    }
}

/// A constant of the template.
fn literal<'r>(value: &'r minijinja::Value) -> Term<'r> {
    if let Some(text) = value.as_str() {
        return Term::Word(text);
    }
    match value.kind() {
        ValueKind::Bool => Term::made(value.is_true()),
        ValueKind::Number => match value.as_i64() {
            Some(whole) if value.is_integer() => Term::made(whole),
            _ => f64::try_from(value.clone()).map_or(Term::made(Value::Null), Term::made),
        },
        _ => Term::made(Value::Null),
    }
}
