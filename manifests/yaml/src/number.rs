//! Numbers as Go's `strconv` reads and prints them.

/// A number of YAML.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    /// An integer above `i64::MAX`.
    Unsigned(u64),
    Float(f64),
}

/// Reads an integer or a float that starts with a sign or a digit; `_` may stand anywhere.
pub(crate) fn parse(text: &str) -> Option<Number> {
    let plain: String = text.chars().filter(|&character| character != '_').collect();
    let (sign, digits) = split_sign(&plain);
    if let Some(number) = integer(sign, digits) {
        return Some(number);
    }
    if is_float(digits)
        && let Some(float) = finite(&plain)
    {
        return Some(Number::Float(float));
    }
    // A sign behind the prefix slips through Go's second try for binary numbers.
    match digits.strip_prefix("0b").map(split_sign) {
        Some((inner, digits)) if sign.is_empty() && !inner.is_empty() => radix(inner, digits, 2),
        _ => None,
    }
}

/// Reads a float that starts with a dot. Here `_` must stand between digits.
pub(crate) fn parse_fraction(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_digit =
        |position: Option<usize>| position.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_separated = bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| *byte != b'_' || (is_digit(at.checked_sub(1)) && is_digit(Some(at + 1))));
    let plain: String = text.chars().filter(|&character| character != '_').collect();
    if is_separated && is_float(&plain) { finite(&plain) } else { None }
}

/// Prints the shortest text that reads back as the same number: Go's format `g`.
pub(crate) fn print(float: f64) -> String {
    general(&format!("{float:e}"))
}

/// The same for the nearest number of single precision, as keys are printed.
pub(crate) fn print_single(float: f64) -> String {
    if float.is_nan() {
        return ".nan".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the loss of precision is what Go's keys have")]
    let single = float as f32;
    if single.is_infinite() {
        return if single > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    general(&format!("{single:e}"))
}

/// Exponents from this one on are printed; Go's choice for shortest numbers.
const FIRST_PRINTED_EXPONENT: i32 = 6;

/// Exponents below this one are printed.
const FIRST_PLAIN_EXPONENT: i32 = -4;

/// Turns `d.ddde-x` into Go's format `g`.
fn general(scientific: &str) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, digits) = split_sign(mantissa);
    let digits = digits.replace('.', "");
    if !(FIRST_PLAIN_EXPONENT..FIRST_PRINTED_EXPONENT).contains(&exponent) {
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{exponent_sign}{:02}", exponent.unsigned_abs());
    }
    let zeros = |count: usize| "0".repeat(count);
    let Ok(point) = usize::try_from(exponent + 1) else {
        let leading = usize::try_from(-exponent - 1).unwrap_or_default();
        return format!("{sign}0.{}{digits}", zeros(leading));
    };
    match digits.split_at_checked(point) {
        Some((whole, "")) => format!("{sign}{whole}"),
        Some(("", fraction)) => format!("{sign}0.{fraction}"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{digits}{}", zeros(point - digits.len())),
    }
}

fn split_sign(text: &str) -> (&str, &str) {
    text.split_at_checked(1).filter(|(sign, _)| matches!(*sign, "+" | "-")).unwrap_or(("", text))
}

/// An integer with the prefixes of Go: `0x`, `0o`, `0b`, and `0` for octal.
fn integer(sign: &str, digits: &str) -> Option<Number> {
    let prefixed = |letters: [char; 2]| digits.strip_prefix('0').and_then(|rest| rest.strip_prefix(letters));
    if let Some(digits) = prefixed(['x', 'X']) {
        radix(sign, digits, 16)
    } else if let Some(digits) = prefixed(['o', 'O']) {
        radix(sign, digits, 8)
    } else if let Some(digits) = prefixed(['b', 'B']) {
        radix(sign, digits, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        radix(sign, digits, 8)
    } else {
        radix(sign, digits, 10)
    }
}

fn radix(sign: &str, digits: &str, radix: u32) -> Option<Number> {
    // Rust would take one more sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let signed = i64::from_str_radix(&format!("{sign}{digits}"), radix).ok().map(Number::Integer);
    let unsigned =
        || u64::from_str_radix(digits, radix).ok().filter(|_| sign.is_empty()).map(Number::Unsigned);
    signed.or_else(unsigned)
}

/// Whether this is `1`, `1.`, `1.5` or `.5`, perhaps with an exponent.
fn is_float(text: &str) -> bool {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(split_sign(exponent).1)),
        None => (text, None),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole)
        && are_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && are_digits(exponent))
}

/// None where the number is too large; a number too small is zero.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|float: &f64| float.is_finite())
}
