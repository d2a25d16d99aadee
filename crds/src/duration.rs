use std::{str::FromStr, time::Duration};

/// A duration as Go writes and reads it, such as `750ms`, `1h30m` or `-1.5s`: whole nanoseconds, at most about 292
/// years either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration {
    nanoseconds: i64,
}

/// The text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDuration;

impl GoDuration {
    /// Whether it is shorter than none at all.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.nanoseconds < 0
    }

    /// The same as a duration that cannot be negative; none when it is.
    #[must_use]
    pub fn unsigned(self) -> Option<Duration> {
        u64::try_from(self.nanoseconds).ok().map(Duration::from_nanos)
    }
}

impl FromStr for GoDuration {
    type Err = NoDuration;

    fn from_str(text: &str) -> Result<Self, NoDuration> {
        let (is_negative, mut rest) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        if rest == "0" {
            return Ok(Self { nanoseconds: 0 });
        }
        if rest.is_empty() {
            return Err(NoDuration);
        }
        let mut total: i64 = 0;
        while !rest.is_empty() {
            let (part, left) = first_part(rest).ok_or(NoDuration)?;
            total = total.checked_add(part).ok_or(NoDuration)?;
            rest = left;
        }
        Ok(Self { nanoseconds: if is_negative { -total } else { total } })
    }
}

/// The nanoseconds of the number and unit that a text begins with, and the rest of the text.
fn first_part(text: &str) -> Option<(i64, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end =
        rest.find(|character: char| character == '.' || character.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(end)?;
    let unit = nanoseconds(unit)?;
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    Some((whole.checked_mul(unit)?.checked_add(part_of(unit, fraction))?, rest))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The digits behind the point as part of a unit, rounded down to nanoseconds. Digits beyond what moves an hour by a
/// nanosecond do not count.
fn part_of(unit: i64, fraction: &str) -> i64 {
    const MOST_DIGITS: usize = 18;
    let (mut value, mut scale) = (0_i128, 1_i128);
    for digit in fraction.bytes().take(MOST_DIGITS) {
        value = value * 10 + i128::from(digit.saturating_sub(b'0'));
        scale *= 10;
    }
    i64::try_from(i128::from(unit) * value / scale).unwrap_or_default()
}

fn nanoseconds(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        // The micro sign, and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// The duration that a text has, as flags and variables hold them: Go's syntax, and not negative.
///
/// # Errors
/// With the end of a sentence that begins with the text.
pub fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<GoDuration>().ok().and_then(GoDuration::unsigned);
    parsed.ok_or_else(|| "is not a duration such as 750ms, 30s, 5m or 1h30m".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{GoDuration, NoDuration, duration};

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("-0", 0),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("+5s", 5_000_000_000),
            ("-5s", -5_000_000_000),
            ("1478s", 1_478_000_000_000),
            ("5.0s", 5_000_000_000),
            ("5.6s", 5_600_000_000),
            ("5.s", 5_000_000_000),
            (".5s", 500_000_000),
            ("-.5s", -500_000_000),
            ("1.004s", 1_004_000_000),
            ("100.00100s", 100_001_000_000),
            ("10ns", 10),
            ("11us", 11_000),
            ("12\u{b5}s", 12_000),
            ("12\u{3bc}s", 12_000),
            ("13ms", 13_000_000),
            ("3h30m", 12_600_000_000_000),
            ("10.5s4m", 250_500_000_000),
            ("-2m3.4s", -123_400_000_000),
            ("1h2m3s4ms5us6ns", 3_723_004_005_006),
            ("52763797000ns", 52_763_797_000),
            ("0.830103483285477580700h", 2_988_372_539_827),
            ("0.100000000000000000000h", 360_000_000_000),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(GoDuration { nanoseconds }), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_and_nothing_panics() {
        for text in [
            "",
            "3",
            "-",
            "+",
            "s",
            ".",
            "-.",
            ".s",
            "+.s",
            "1d",
            "1h-5m",
            "1h+5m",
            "--1s",
            "+-1s",
            "1 h",
            " 1s",
            "1s ",
            "soon",
            "1\u{e4}s",
            "\u{85}3s",
            "1e3s",
            "3000000h",
            "9223372036854775808ns",
            "9223372036854775.808us",
            "99999999999999999999999999h",
            "9223372036854ms775us808ns",
            "nan",
            "infs",
        ] {
            assert_eq!(text.parse::<GoDuration>(), Err(NoDuration), "{text:?}");
        }
    }

    #[test]
    fn flags_take_durations_that_are_not_negative() {
        assert_eq!(duration("750ms"), Ok(Duration::from_millis(750)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_mins(90)));
        for bad in ["", "-1s", "soon"] {
            assert!(duration(bad).unwrap_err().starts_with("is not a duration such as "), "{bad}");
        }
    }
}
