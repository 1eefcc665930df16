//! Numbers and texts in the forms of `printf`: `%s`, `%d`, `%5.2f`, `%03d`, `%-8s`.

use super::TemplateError;
use super::budget::Text;
use super::term::Term;
use super::texts::WIDTH;

/// Digits behind the point.
const DIGITS: usize = 100;

pub(super) fn write(
    form: &str,
    terms: &[Term<'_>],
    out: &mut Text<'_>,
) -> Result<(), TemplateError> {
    let mut terms = terms.iter();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('%') {
        out.push(before)?;
        if let Some(after) = after.strip_prefix('%') {
            out.push("%")?;
            rest = after;
            continue;
        }
        let (spec, after) = Spec::read(after).ok_or_else(|| wrong(form))?;
        let term = terms.next().ok_or_else(|| TemplateError::failed("`format` lacks a value"))?;
        out.push(&spec.written(term, out)?)?;
        rest = after;
    }
    out.push(rest)
}

fn wrong(form: &str) -> TemplateError {
    TemplateError::failed(format!("`{form}` is no form that `format` knows"))
}

struct Spec {
    left: bool,
    zeros: bool,
    sign: bool,
    width: usize,
    precision: Option<usize>,
    kind: Kind,
}

enum Kind {
    Text,
    Whole,
    Fixed,
}

impl Spec {
    /// What stands behind a `%`, and the rest of the form.
    fn read(form: &str) -> Option<(Self, &str)> {
        let end = form.find(|letter: char| letter.is_ascii_alphabetic())?;
        let kind = match form.as_bytes()[end] {
            b's' => Kind::Text,
            b'd' | b'i' => Kind::Whole,
            b'f' => Kind::Fixed,
            _ => return None,
        };
        let size = form[..end].trim_start_matches(['-', '0', '+', ' ']);
        let flags = &form[..end - size.len()];
        let (width, precision) = match size.split_once('.') {
            Some((width, precision)) => (width, Some(number(precision)?.min(DIGITS))),
            None => (size, None),
        };
        let spec = Self {
            left: flags.contains('-'),
            zeros: flags.contains('0'),
            sign: flags.contains('+'),
            width: number(width)?.min(WIDTH),
            precision,
            kind,
        };
        Some((spec, &form[end + 1..]))
    }

    fn written(&self, term: &Term<'_>, out: &Text<'_>) -> Result<String, TemplateError> {
        let text = term.printed(out.budget())?;
        let value = || {
            let number = term.number().or_else(|| text.trim().parse().ok());
            number.ok_or_else(|| TemplateError::failed(format!("{} is no number", term.kind())))
        };
        let written = match self.kind {
            Kind::Text => {
                out.budget().pay(text.len())?;
                text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
            }
            Kind::Whole => match term.integer() {
                Some(whole) => whole.to_string(),
                None => format!("{:.0}", value()?.trunc()),
            },
            Kind::Fixed => format!("{:.*}", self.precision.unwrap_or(6), value()?),
        };
        let number = !matches!(self.kind, Kind::Text);
        let plus = if self.sign && number && !written.starts_with('-') { "+" } else { "" };
        let fill = self.width.saturating_sub(written.chars().count() + plus.len());
        Ok(match (self.left, self.zeros && number) {
            (true, _) => format!("{plus}{written}{}", " ".repeat(fill)),
            (false, false) => format!("{}{plus}{written}", " ".repeat(fill)),
            (false, true) => {
                let (minus, digits) =
                    written.strip_prefix('-').map_or(("", &*written), |d| ("-", d));
                format!("{minus}{plus}{}{digits}", "0".repeat(fill))
            }
        })
    }
}

fn number(digits: &str) -> Option<usize> {
    if digits.is_empty() { Some(0) } else { digits.parse().ok() }
}
