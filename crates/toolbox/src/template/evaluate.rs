//! Executes the statements of a template.

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};
use serde_json::{Map, Value};

use super::budget::{BudgetedText, RenderBudget};
use super::scope::{LoopPosition, TemplateScope};
use super::value::TemplateValue;
use super::{EscapeMode, TemplateError, print};

pub(crate) struct TemplateRenderer<'r> {
    pub(crate) values: &'r Map<String, Value>,
    pub(crate) budget: &'r RenderBudget,
    pub(crate) scope: TemplateScope<'r>,
    pub(crate) escape: EscapeMode,
    out: BudgetedText<'r>,
}

impl<'r> TemplateRenderer<'r> {
    pub(crate) fn new(
        values: &'r Map<String, Value>,
        budget: &'r RenderBudget,
        escape: EscapeMode,
    ) -> Self {
        Self {
            values,
            budget,
            scope: TemplateScope::default(),
            escape,
            out: BudgetedText::new(budget),
        }
    }

    pub(crate) fn render(mut self, tree: &'r Stmt<'r>) -> Result<String, TemplateError> {
        self.statement(tree)?;
        Ok(self.out.into_string())
    }

    fn statements(&mut self, body: &'r [Stmt<'r>]) -> Result<(), TemplateError> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'r Stmt<'r>) -> Result<(), TemplateError> {
        self.budget.step()?;
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitRaw(raw) => self.out.push(raw.raw),
            Stmt::EmitExpr(emit) => {
                let value = self.expression(&emit.expr)?;
                print::write(&value, self.escape, &mut self.out)
            }
            Stmt::IfCond(condition) => {
                let is_true = self.expression(&condition.expr)?.truth();
                self.statements(if is_true { &condition.true_body } else { &condition.false_body })
            }
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::Set(set) => {
                let value = self.expression(&set.expr)?;
                self.assign(&set.target, value)
            }
            Stmt::SetBlock(set) => {
                let mut value = self.capture(&set.body)?;
                if let Some(filter) = &set.filter {
                    value = self.apply_filter(filter, value)?;
                }
                self.assign(&set.target, value)
            }
            Stmt::FilterBlock(block) => {
                let value = self.capture(&block.body)?;
                let value = self.apply_filter(&block.filter, value)?;
                print::write(&value, self.escape, &mut self.out)
            }
            Stmt::WithBlock(with) => {
                let outer = self.scope.open();
                for (target, expression) in &with.assignments {
                    let value = self.expression(expression)?;
                    self.assign(target, value)?;
                }
                let result = self.statements(&with.body);
                self.scope.close(outer);
                result
            }
            _ => Err(TemplateError::failed("it uses an unsupported statement")),
        }
    }

    fn for_loop(&mut self, each: &'r ForLoop<'r>) -> Result<(), TemplateError> {
        if each.recursive {
            return Err(TemplateError::failed("recursive loops are not supported"));
        }
        let iterable = self.expression(&each.iter)?;
        let mut items = self.items(&iterable)?;
        if let Some(filter) = &each.filter_expr {
            items = self.filter_items(items, &each.target, filter)?;
        }
        if items.is_empty() {
            return self.statements(&each.else_body);
        }
        let length = items.len();
        for (index, item) in items.into_iter().enumerate() {
            self.budget.step()?;
            let outer = self.scope.open();
            self.scope.set("loop", TemplateValue::Loop(LoopPosition { index, length }))?;
            self.assign(&each.target, item)?;
            self.statements(&each.body)?;
            self.scope.close(outer);
        }
        Ok(())
    }

    /// The loop items accepted by the loop's `if`.
    fn filter_items(
        &mut self,
        items: Vec<TemplateValue<'r>>,
        target: &'r Expr<'r>,
        filter: &'r Expr<'r>,
    ) -> Result<Vec<TemplateValue<'r>>, TemplateError> {
        let mut accepted = Vec::new();
        for item in items {
            self.budget.step()?;
            let outer = self.scope.open();
            self.assign(target, item.clone())?;
            let accepts = self.expression(filter)?.truth();
            self.scope.close(outer);
            if accepts {
                accepted.push(item);
            }
        }
        Ok(accepted)
    }

    /// The output of a body as a value. It is already escaped.
    fn capture(&mut self, body: &'r [Stmt<'r>]) -> Result<TemplateValue<'r>, TemplateError> {
        let outer = std::mem::replace(&mut self.out, BudgetedText::new(self.budget));
        let result = self.statements(body);
        let text = std::mem::replace(&mut self.out, outer).into_string();
        result?;
        Ok(match self.escape {
            EscapeMode::Html => TemplateValue::Markup(text.into()),
            EscapeMode::None => TemplateValue::computed(text),
        })
    }

    /// Applies a filter without its own operand, as in `{% filter upper %}`.
    fn apply_filter(
        &mut self,
        filter: &'r Expr<'r>,
        value: TemplateValue<'r>,
    ) -> Result<TemplateValue<'r>, TemplateError> {
        let Expr::Filter(filter) = filter else {
            return Err(TemplateError::failed("`filter` needs a filter"));
        };
        let operand = match &filter.expr {
            Some(inner) => self.apply_filter(inner, value)?,
            None => value,
        };
        self.apply(filter.name, operand, &filter.args)
    }

    fn assign(
        &mut self,
        target: &'r Expr<'r>,
        value: TemplateValue<'r>,
    ) -> Result<(), TemplateError> {
        let parts = match target {
            Expr::Var(name) => return self.scope.set(name.id, value),
            Expr::Tuple(tuple) => &tuple.items,
            Expr::List(list) => &list.items,
            _ => return Err(TemplateError::failed("only names can be assigned")),
        };
        let items = self.items(&value)?;
        if items.len() != parts.len() {
            let (names, values) = (parts.len(), items.len());
            let message = format!("{values} values cannot be assigned to {names} names");
            return Err(TemplateError::failed(message));
        }
        parts.iter().zip(items).try_for_each(|(part, item)| self.assign(part, item))
    }
}
