use std::time::Duration;

use kube::core::Duration as GoDuration;

/// The duration that a text has, as flags and variables hold them: Go's syntax, and not negative.
///
/// # Errors
/// With the end of a sentence that begins with the text.
pub fn duration(text: &str) -> Result<Duration, String> {
    match text.parse::<GoDuration>() {
        Ok(duration) if !duration.is_negative() => Ok(duration.into()),
        _ => Err("is not a duration such as 750ms, 30s, 5m or 1h30m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration;

    #[test]
    fn durations_are_those_of_go_and_not_negative() {
        assert_eq!(duration("750ms"), Ok(Duration::from_millis(750)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_mins(90)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        for bad in ["", "5", "-1s", "soon", "1 h"] {
            assert!(duration(bad).unwrap_err().starts_with("is not a duration such as "), "{bad}");
        }
    }
}
