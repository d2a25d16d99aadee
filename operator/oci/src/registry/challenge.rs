/// How a registry wants to be told who asks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String> },
    Other(String),
}

/// Reads the values of `WWW-Authenticate`. Of several challenges Bearer counts most, then Basic.
pub(crate) fn parse<'a>(values: impl Iterator<Item = &'a str>) -> Option<Challenge> {
    let mut best = None;
    for value in values {
        let Some(challenge) = one(value.trim()) else { continue };
        let rank = |challenge: &Challenge| match challenge {
            Challenge::Bearer { .. } => 2,
            Challenge::Basic => 1,
            Challenge::Other(_) => 0,
        };
        if best.as_ref().is_none_or(|other| rank(&challenge) > rank(other)) {
            best = Some(challenge);
        }
    }
    best
}

fn one(value: &str) -> Option<Challenge> {
    let (scheme, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Challenge::Basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return (!scheme.is_empty()).then(|| Challenge::Other(scheme.chars().take(40).collect()));
    }
    let (mut realm, mut service) = (None, None);
    for (name, value) in parameters(rest) {
        match name.to_ascii_lowercase().as_str() {
            "realm" => realm = realm.or(Some(value)),
            "service" => service = service.or(Some(value)),
            _ => {}
        }
    }
    Some(Challenge::Bearer { realm: realm.unwrap_or_default(), service })
}

/// `name="value"` and `name=value`, separated by commas; a quoted value may have commas and `\"`.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut characters = text.chars().peekable();
    loop {
        let name: String = std::iter::from_fn(|| characters.next_if(|character| *character != '=')).collect();
        if characters.next().is_none() {
            return found;
        }
        while characters.next_if(|character| character.is_whitespace()).is_some() {}
        let mut value = String::new();
        if characters.next_if_eq(&'"').is_some() {
            while let Some(character) = characters.next() {
                match character {
                    '"' => break,
                    '\\' => value.extend(characters.next()),
                    _ => value.push(character),
                }
            }
            while characters.next_if(|character| *character != ',').is_some() {}
        } else {
            value.extend(std::iter::from_fn(|| characters.next_if(|character| *character != ',')));
        }
        characters.next_if_eq(&',');
        found.push((name.trim().to_owned(), value.trim().to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{Challenge, parse};

    fn bearer(realm: &str, service: Option<&str>) -> Challenge {
        Challenge::Bearer { realm: realm.into(), service: service.map(str::to_owned) }
    }

    #[rstest]
    #[case(&[r#"Bearer realm="https://a/t",service="s",scope="repository:a:pull,push""#], Some(bearer("https://a/t", Some("s"))))]
    #[case(&[r#"bearer  service = s , Realm = "a\"b" "#], Some(bearer("a\"b", Some("s"))))]
    #[case(&[r#"Bearer realm="a"x,service="s"#], Some(bearer("a", Some("s"))))]
    #[case(&["Bearer"], Some(bearer("", None)))]
    #[case(&[r#"Basic realm="x""#], Some(Challenge::Basic))]
    #[case(&["Basic", r#"Bearer realm="a""#], Some(bearer("a", None)))]
    #[case(&["Negotiate", "BASIC"], Some(Challenge::Basic))]
    #[case(&["Negotiate"], Some(Challenge::Other("Negotiate".into())))]
    #[case(&[""], None)]
    #[case(&[], None)]
    fn challenges_are_read(#[case] values: &[&str], #[case] expected: Option<Challenge>) {
        assert_eq!(parse(values.iter().copied()), expected);
    }
}
