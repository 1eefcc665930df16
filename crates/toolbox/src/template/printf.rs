//! `printf`-style formatting: `%s`, `%d`, `%5.2f`, `%03d`, `%-8s`.

use super::TemplateError;
use super::budget::BudgetedText;
use super::texts::MAX_WIDTH;
use super::value::TemplateValue;

/// Limit on digits after the decimal point.
const MAX_DIGITS: usize = 100;

pub(crate) fn write(
    format: &str,
    values: &[TemplateValue<'_>],
    out: &mut BudgetedText<'_>,
) -> Result<(), TemplateError> {
    let mut values = values.iter();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push(before)?;
        if let Some(after) = after.strip_prefix('%') {
            out.push("%")?;
            rest = after;
            continue;
        }
        let (spec, after) = FormatSpec::parse(after).ok_or_else(|| invalid_format(format))?;
        let value =
            values.next().ok_or_else(|| TemplateError::failed("`format` is missing a value"))?;
        out.push(&spec.format(value, out)?)?;
        rest = after;
    }
    out.push(rest)
}

fn invalid_format(format: &str) -> TemplateError {
    TemplateError::failed(format!("`{format}` is not a valid format"))
}

struct FormatSpec {
    left: bool,
    zeros: bool,
    sign: bool,
    width: usize,
    precision: Option<usize>,
    kind: ConversionKind,
}

enum ConversionKind {
    Text,
    Whole,
    Fixed,
}

impl FormatSpec {
    /// Parses the specifier after a `%`, and returns it with the rest of the format.
    fn parse(format: &str) -> Option<(Self, &str)> {
        let end = format.find(|letter: char| letter.is_ascii_alphabetic())?;
        let kind = match format.as_bytes()[end] {
            b's' => ConversionKind::Text,
            b'd' | b'i' => ConversionKind::Whole,
            b'f' => ConversionKind::Fixed,
            _ => return None,
        };
        let size = format[..end].trim_start_matches(['-', '0', '+', ' ']);
        let flags = &format[..end - size.len()];
        let (width, precision) = match size.split_once('.') {
            Some((width, precision)) => (width, Some(number(precision)?.min(MAX_DIGITS))),
            None => (size, None),
        };
        let spec = Self {
            left: flags.contains('-'),
            zeros: flags.contains('0'),
            sign: flags.contains('+'),
            width: number(width)?.min(MAX_WIDTH),
            precision,
            kind,
        };
        Some((spec, &format[end + 1..]))
    }

    fn format(
        &self,
        value: &TemplateValue<'_>,
        out: &BudgetedText<'_>,
    ) -> Result<String, TemplateError> {
        let text = value.to_text(out.budget())?;
        let as_number = || {
            let number = value.number().or_else(|| text.trim().parse().ok());
            number.ok_or_else(|| TemplateError::failed(format!("{} is not a number", value.kind())))
        };
        let written = match self.kind {
            ConversionKind::Text => {
                out.budget().charge(text.len())?;
                text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
            }
            ConversionKind::Whole => match value.integer() {
                Some(whole) => whole.to_string(),
                None => format!("{:.0}", as_number()?.trunc()),
            },
            ConversionKind::Fixed => format!("{:.*}", self.precision.unwrap_or(6), as_number()?),
        };
        let number = !matches!(self.kind, ConversionKind::Text);
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
