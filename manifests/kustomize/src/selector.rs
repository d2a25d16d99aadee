//! Label and annotation selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h,n>1`.

use serde_json::{Map, Value};

/// A parsed selector: every requirement must hold. An empty one matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Exists,
    DoesNotExist,
    In(Vec<String>),
    NotIn(Vec<String>),
    GreaterThan(i64),
    LessThan(i64),
}

/// Why a text is not a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// Something stands where something else must stand.
    #[error("found {found} where {expected} must stand")]
    Unexpected {
        /// What is there.
        found: String,
        /// What must be there.
        expected: &'static str,
    },
    /// Not the name of a label.
    #[error(
        "`{key}` is no label name; use at most 63 letters, digits, `-`, `_`, `.`, with an optional DNS prefix"
    )]
    Key {
        /// The text as the selector has it.
        key: String,
    },
    /// Not the value of a label.
    #[error("`{value}` is no label value; use at most 63 letters, digits, `-`, `_`, `.`")]
    Value {
        /// The text as the selector has it.
        value: String,
    },
    /// `<` or `>` without a number.
    #[error("`{value}` is no whole number, which `<` and `>` need")]
    Number {
        /// The text as the selector has it.
        value: String,
    },
}

impl Selector {
    /// Reads a selector.
    pub(crate) fn read(text: &str) -> Result<Self, SelectorError> {
        let tokens = tokens(text);
        let mut reader = Reader { rest: &tokens };
        let mut requirements = Vec::new();
        if reader.rest.is_empty() {
            return Ok(Self(requirements));
        }
        loop {
            requirements.push(reader.requirement()?);
            match reader.next() {
                None => return Ok(Self(requirements)),
                Some(Token::Comma) => {}
                Some(other) => return Err(unexpected(Some(other), "`,` or the end")),
            }
        }
    }

    /// True when the map of labels or annotations meets every requirement.
    pub(crate) fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels.and_then(|labels| labels.get(&requirement.key)).map(|value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            requirement.test.holds(value.as_deref())
        })
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        match self {
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|wanted| wanted == value)),
            Self::NotIn(values) => value.is_none_or(|value| values.iter().all(|unwanted| unwanted != value)),
            Self::GreaterThan(bound) => number(value).is_some_and(|value| value > *bound),
            Self::LessThan(bound) => number(value).is_some_and(|value| value < *bound),
        }
    }
}

fn number(text: Option<&str>) -> Option<i64> {
    text?.parse().ok()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Open,
    Close,
    Comma,
    Not,
    Equals,
    NotEquals,
    Greater,
    Less,
    /// Symbols that mean nothing together.
    Other(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let token = match character {
            ' ' | '\t' | '\r' | '\n' => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            '>' => Token::Greater,
            '<' => Token::Less,
            '=' => {
                characters.next_if_eq(&'=');
                Token::Equals
            }
            '!' if characters.next_if_eq(&'=').is_some() => Token::NotEquals,
            '!' => Token::Not,
            '\0' => Token::Other(character.to_string()),
            first => {
                let mut word = String::from(first);
                while let Some(next) = characters.next_if(|next| !" \t\r\n=!(),><\0".contains(*next)) {
                    word.push(next);
                }
                Token::Word(word)
            }
        };
        tokens.push(token);
    }
    tokens
}

struct Reader<'a> {
    rest: &'a [Token],
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn peek(&self) -> Option<&'a Token> {
        self.rest.first()
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let negated = self.peek() == Some(&Token::Not);
        if negated {
            self.next();
        }
        let key = match self.next() {
            Some(Token::Word(word)) if is_key(word) => word.clone(),
            Some(Token::Word(word)) => return Err(SelectorError::Key { key: word.clone() }),
            other => return Err(unexpected(other, "a label name")),
        };
        if matches!(self.peek(), None | Some(Token::Comma)) {
            let test = if negated { Test::DoesNotExist } else { Test::Exists };
            return Ok(Requirement { key, test });
        }
        if negated {
            return Err(unexpected(self.peek(), "`,` or the end after a `!` and its label name"));
        }
        let test = match self.next() {
            Some(Token::Equals) => Test::In(vec![self.value()?]),
            Some(Token::NotEquals) => Test::NotIn(vec![self.value()?]),
            Some(Token::Greater) => Test::GreaterThan(self.bound()?),
            Some(Token::Less) => Test::LessThan(self.bound()?),
            Some(Token::Word(word)) if word == "in" => Test::In(self.values()?),
            Some(Token::Word(word)) if word == "notin" => Test::NotIn(self.values()?),
            other => return Err(unexpected(other, "`=`, `!=`, `in`, `notin`, `<` or `>`")),
        };
        Ok(Requirement { key, test })
    }

    /// The value after `=`; nothing there is the empty value.
    fn value(&mut self) -> Result<String, SelectorError> {
        match self.peek() {
            None | Some(Token::Comma) => Ok(String::new()),
            Some(Token::Word(word)) => {
                self.next();
                checked_value(word)
            }
            other => Err(unexpected(other, "a value")),
        }
    }

    fn bound(&mut self) -> Result<i64, SelectorError> {
        let value = self.value()?;
        value.parse().map_err(|_| SelectorError::Number { value })
    }

    /// The values in parentheses; `()` and `(,)` hold the empty value.
    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        if self.peek() != Some(&Token::Open) {
            return Err(unexpected(self.peek(), "`(`"));
        }
        self.next();
        let mut values = Vec::new();
        loop {
            values.push(match self.peek() {
                Some(Token::Word(word)) => {
                    self.next();
                    checked_value(word)?
                }
                Some(Token::Comma | Token::Close) => String::new(),
                other => return Err(unexpected(other, "a value, `,` or `)`")),
            });
            match self.next() {
                Some(Token::Comma) => {}
                Some(Token::Close) => return Ok(values),
                other => return Err(unexpected(other, "`,` or `)`")),
            }
        }
    }
}

fn unexpected(found: Option<&Token>, expected: &'static str) -> SelectorError {
    let found = match found {
        None => "the end".to_owned(),
        Some(Token::Word(word) | Token::Other(word)) => format!("`{word}`"),
        Some(Token::Open) => "`(`".to_owned(),
        Some(Token::Close) => "`)`".to_owned(),
        Some(Token::Comma) => "`,`".to_owned(),
        Some(Token::Not) => "`!`".to_owned(),
        Some(Token::Equals) => "`=`".to_owned(),
        Some(Token::NotEquals) => "`!=`".to_owned(),
        Some(Token::Greater) => "`>`".to_owned(),
        Some(Token::Less) => "`<`".to_owned(),
    };
    SelectorError::Unexpected { found, expected }
}

/// Longest name or value of a label, in bytes.
const MAX_LABEL_BYTES: usize = 63;

/// Longest DNS prefix of a label name, in bytes.
const MAX_PREFIX_BYTES: usize = 253;

fn is_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_dns_name(prefix) && is_label_text(name),
        None => is_label_text(text),
    }
}

fn is_label_text(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MAX_LABEL_BYTES
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_dns_name(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        is_end(bytes.first())
            && is_end(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
    };
    text.len() <= MAX_PREFIX_BYTES && text.split('.').all(is_part)
}

fn checked_value(word: &str) -> Result<String, SelectorError> {
    if is_label_text(word) {
        Ok(word.to_owned())
    } else {
        Err(SelectorError::Value { value: word.to_owned() })
    }
}
