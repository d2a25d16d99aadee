use std::time::{Duration, SystemTime};

/// The longest time that is believed; what is longer is a mistake, or a server that wants to be rid of us.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Reads `Retry-After`: seconds, or a date.
pub(crate) fn parse(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let wait = match value.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default(),
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use rstest::rstest;

    use super::parse;

    #[rstest]
    #[case("0", Some(0))]
    #[case(" 30 ", Some(30))]
    #[case("99999999999", Some(3600))]
    #[case("Sun, 06 Nov 1994 08:49:37 GMT", Some(37))]
    #[case("Sun, 06 Nov 1994 08:48:37 GMT", Some(0))]
    #[case("-1", None)]
    #[case("1.5", None)]
    #[case("soon", None)]
    fn seconds_and_dates_are_read(#[case] value: &str, #[case] seconds: Option<u64>) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_mins(13_068_529);
        assert_eq!(parse(value, now), seconds.map(Duration::from_secs));
    }
}
