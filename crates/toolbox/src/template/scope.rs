//! Which names a template has set, and where in its loops it is.

use super::TemplateError;
use super::term::Term;

/// Names that may be set at one time: looking one up goes through all of them.
const NAMES: usize = 500;

/// One round of a loop, as `loop` tells of it.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub(super) index: usize,
    pub(super) length: usize,
}

impl Round {
    pub(super) fn attribute(self, name: &str) -> Option<Term<'static>> {
        Some(match name {
            "index" => Term::made(self.index + 1),
            "index0" => Term::made(self.index),
            "revindex" => Term::made(self.length - self.index),
            "revindex0" => Term::made(self.length - self.index - 1),
            "first" => Term::made(self.index == 0),
            "last" => Term::made(self.index + 1 == self.length),
            "length" => Term::made(self.length),
            _ => return None,
        })
    }
}

/// Names in the order of their setting; the last of a name counts.
#[derive(Default)]
pub(super) struct Scope<'r> {
    names: Vec<(&'r str, Term<'r>)>,
    /// Where the innermost loop or `with` begins.
    start: usize,
}

impl<'r> Scope<'r> {
    pub(super) fn find(&self, name: &str) -> Option<&Term<'r>> {
        self.names.iter().rev().find(|(set, _)| *set == name).map(|(_, term)| term)
    }

    /// Sets a name in the innermost scope only, as Jinja does: a loop leaves nothing behind.
    pub(super) fn set(&mut self, name: &'r str, term: Term<'r>) -> Result<(), TemplateError> {
        let place = self.names[self.start..].iter().position(|(set, _)| *set == name);
        match place {
            Some(place) => self.names[self.start + place].1 = term,
            None if self.names.len() < NAMES => self.names.push((name, term)),
            None => return Err(TemplateError::failed("it sets too many names")),
        }
        Ok(())
    }

    /// Opens a scope and returns what `close` needs.
    pub(super) fn open(&mut self) -> usize {
        std::mem::replace(&mut self.start, self.names.len())
    }

    pub(super) fn close(&mut self, outer: usize) {
        self.names.truncate(self.start);
        self.start = outer;
    }
}
