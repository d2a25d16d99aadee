//! Which texts `goyaml.v2` takes for timestamps. They stay texts, but print in quotes.

/// Whether the text has one of the four forms that are tried: date, date and time behind spaces, or date and
/// time behind `T` or `t` with a zone. Months and the like may have one digit.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let mut rest = Rest(text);
    if !text.bytes().take(4).all(|byte| byte.is_ascii_digit()) || text.as_bytes().get(4) != Some(&b'-') {
        return false;
    }
    let Some(year) = rest.fixed(4) else { return false };
    let date = (rest.literal('-'), rest.number(), rest.literal('-'), rest.number());
    let (true, Some(month), true, Some(day)) = date else { return false };
    if day < 1 || day > days_of(year, month) {
        return false;
    }
    if rest.0.is_empty() {
        return true;
    }
    if rest.literal('T') || rest.literal('t') {
        rest.time() && rest.zone() && rest.0.is_empty()
    } else if rest.literal(' ') {
        rest.0 = rest.0.trim_start_matches(' ');
        rest.time() && rest.0.is_empty()
    } else {
        false
    }
}

/// No day for what is no month.
fn days_of(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// What is not read yet.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn literal(&mut self, character: char) -> bool {
        self.0.strip_prefix(character).map(|rest| self.0 = rest).is_some()
    }

    fn digits(&self) -> usize {
        self.0.bytes().take_while(u8::is_ascii_digit).count()
    }

    /// A number of so many digits.
    fn fixed(&mut self, digits: usize) -> Option<u32> {
        if self.digits() < digits {
            return None;
        }
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.parse().ok()
    }

    /// A number of one digit, or two if there are two.
    fn number(&mut self) -> Option<u32> {
        self.fixed(self.digits().clamp(1, 2))
    }

    /// Hours, minutes, seconds and perhaps a fraction.
    fn time(&mut self) -> bool {
        let time = (self.number(), self.literal(':'), self.number(), self.literal(':'), self.number());
        let (Some(0..24), true, Some(0..60), true, Some(0..60)) = time else { return false };
        let fraction = self.0.strip_prefix(['.', ',']).map(Rest);
        if let Some(fraction) = fraction.filter(|fraction| fraction.digits() > 0) {
            self.0 = fraction.0.trim_start_matches(|character: char| character.is_ascii_digit());
        }
        true
    }

    /// `Z`, or a sign with hours and minutes; Go takes 24 hours and 60 minutes, too.
    fn zone(&mut self) -> bool {
        if self.literal('Z') {
            return true;
        }
        let zone = (self.literal('+') || self.literal('-'), self.fixed(2), self.literal(':'), self.fixed(2));
        matches!(zone, (true, Some(0..=24), true, Some(0..=60)))
    }
}
