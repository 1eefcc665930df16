//! Statements: what a template says and in which order.

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};
use serde_json::{Map, Value};

use super::budget::{Budget, Text};
use super::scope::{Round, Scope};
use super::term::Term;
use super::{Escape, TemplateError, print};

pub(super) struct Render<'r> {
    pub(super) values: &'r Map<String, Value>,
    pub(super) budget: &'r Budget,
    pub(super) scope: Scope<'r>,
    pub(super) escape: Escape,
    out: Text<'r>,
}

impl<'r> Render<'r> {
    pub(super) fn new(values: &'r Map<String, Value>, budget: &'r Budget, escape: Escape) -> Self {
        Self { values, budget, scope: Scope::default(), escape, out: Text::new(budget) }
    }

    pub(super) fn template(mut self, tree: &'r Stmt<'r>) -> Result<String, TemplateError> {
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
                let term = self.expression(&emit.expr)?;
                print::write(&term, self.escape, &mut self.out)
            }
            Stmt::IfCond(condition) => {
                let met = self.expression(&condition.expr)?.truth();
                self.statements(if met { &condition.true_body } else { &condition.false_body })
            }
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::Set(set) => {
                let term = self.expression(&set.expr)?;
                self.assign(&set.target, term)
            }
            Stmt::SetBlock(set) => {
                let mut term = self.captured(&set.body)?;
                if let Some(filter) = &set.filter {
                    term = self.filtered(filter, term)?;
                }
                self.assign(&set.target, term)
            }
            Stmt::FilterBlock(block) => {
                let term = self.captured(&block.body)?;
                let term = self.filtered(&block.filter, term)?;
                print::write(&term, self.escape, &mut self.out)
            }
            Stmt::WithBlock(with) => {
                let outer = self.scope.open();
                for (target, expression) in &with.assignments {
                    let term = self.expression(expression)?;
                    self.assign(target, term)?;
                }
                let result = self.statements(&with.body);
                self.scope.close(outer);
                result
            }
            _ => Err(TemplateError::failed("it uses a statement that is not available here")),
        }
    }

    fn for_loop(&mut self, each: &'r ForLoop<'r>) -> Result<(), TemplateError> {
        if each.recursive {
            return Err(TemplateError::failed("recursive loops are not available"));
        }
        let over = self.expression(&each.iter)?;
        let mut items = self.items(&over)?;
        if let Some(filter) = &each.filter_expr {
            items = self.chosen(items, &each.target, filter)?;
        }
        if items.is_empty() {
            return self.statements(&each.else_body);
        }
        let length = items.len();
        for (index, item) in items.into_iter().enumerate() {
            self.budget.step()?;
            let outer = self.scope.open();
            self.scope.set("loop", Term::Round(Round { index, length }))?;
            self.assign(&each.target, item)?;
            self.statements(&each.body)?;
            self.scope.close(outer);
        }
        Ok(())
    }

    /// The items of a loop that its `if` accepts.
    fn chosen(
        &mut self,
        items: Vec<Term<'r>>,
        target: &'r Expr<'r>,
        filter: &'r Expr<'r>,
    ) -> Result<Vec<Term<'r>>, TemplateError> {
        let mut chosen = Vec::new();
        for item in items {
            self.budget.step()?;
            let outer = self.scope.open();
            self.assign(target, item.clone())?;
            let wanted = self.expression(filter)?.truth();
            self.scope.close(outer);
            if wanted {
                chosen.push(item);
            }
        }
        Ok(chosen)
    }

    /// What a body prints, as a term. It is escaped already.
    fn captured(&mut self, body: &'r [Stmt<'r>]) -> Result<Term<'r>, TemplateError> {
        let outer = std::mem::replace(&mut self.out, Text::new(self.budget));
        let result = self.statements(body);
        let text = std::mem::replace(&mut self.out, outer).into_string();
        result?;
        Ok(match self.escape {
            Escape::Html => Term::Markup(text.into()),
            Escape::Nothing => Term::made(text),
        })
    }

    /// A filter without an operand of its own, as `{% filter upper %}` names it.
    fn filtered(
        &mut self,
        filter: &'r Expr<'r>,
        term: Term<'r>,
    ) -> Result<Term<'r>, TemplateError> {
        let Expr::Filter(filter) = filter else {
            return Err(TemplateError::failed("it names something as a filter that is none"));
        };
        let operand = match &filter.expr {
            Some(inner) => self.filtered(inner, term)?,
            None => term,
        };
        self.apply(filter.name, operand, &filter.args)
    }

    fn assign(&mut self, target: &'r Expr<'r>, term: Term<'r>) -> Result<(), TemplateError> {
        let parts = match target {
            Expr::Var(name) => return self.scope.set(name.id, term),
            Expr::Tuple(tuple) => &tuple.items,
            Expr::List(list) => &list.items,
            _ => return Err(TemplateError::failed("only names can be set")),
        };
        let items = self.items(&term)?;
        if items.len() != parts.len() {
            let (names, values) = (parts.len(), items.len());
            let message = format!("{values} values do not fit {names} names");
            return Err(TemplateError::failed(message));
        }
        parts.iter().zip(items).try_for_each(|(part, item)| self.assign(part, item))
    }
}
