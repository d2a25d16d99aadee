//! Directives, anchors, aliases and tags.

use crate::cursor::{Cursor, Mark};
use crate::error::{Problem, ReadError};
use crate::token::TokenKind;

/// How many digits each part of a version may have.
const MAX_VERSION_DIGITS: usize = 2;

/// Scans a `%` line to the end, its line break included.
pub(super) fn directive(cursor: &mut Cursor<'_>) -> Result<TokenKind, ReadError> {
    let start = cursor.mark();
    cursor.skip();
    let name = name(cursor);
    let kind = match name.as_str() {
        _ if !cursor.is_blank(0) => Err(ReadError::new(start, Problem::UnknownDirective)),
        "YAML" => version(cursor, start),
        "TAG" => tag_directive(cursor, start),
        _ => Err(ReadError::new(start, Problem::UnknownDirective)),
    }?;
    cursor.skip_spaces_and_tabs();
    cursor.skip_comment();
    if !cursor.is_break_or_end(0) {
        return Err(ReadError::new(start, Problem::MalformedDirective));
    }
    cursor.skip_break();
    Ok(kind)
}

/// Scans `&name` or `*name`.
pub(super) fn anchor(cursor: &mut Cursor<'_>) -> Result<TokenKind, ReadError> {
    let start = cursor.mark();
    let is_alias = cursor.byte(0) == b'*';
    cursor.skip();
    let name = name(cursor);
    let is_ended =
        cursor.is_blank(0) || matches!(cursor.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
    if name.is_empty() || !is_ended {
        return Err(ReadError::new(start, Problem::MalformedAnchor));
    }
    Ok(if is_alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) })
}

/// Scans `!suffix`, `!handle!suffix`, `!<uri>` or `!`.
pub(super) fn tag(cursor: &mut Cursor<'_>) -> Result<TokenKind, ReadError> {
    let start = cursor.mark();
    let malformed = || ReadError::new(start, Problem::MalformedTag);
    let (handle, suffix) = if cursor.byte(1) == b'<' {
        cursor.skip_many(2);
        let uri = uri(cursor, start)?;
        if uri.is_empty() || cursor.byte(0) != b'>' {
            return Err(malformed());
        }
        cursor.skip();
        (String::new(), uri)
    } else {
        let handle = handle(cursor);
        let rest = uri(cursor, start)?;
        match handle.strip_prefix('!') {
            Some(name) if name.ends_with('!') => {
                if rest.is_empty() {
                    return Err(malformed());
                }
                (handle, rest)
            }
            Some("") if rest.is_empty() => (String::new(), handle),
            name => ("!".to_owned(), format!("{}{rest}", name.unwrap_or_default())),
        }
    };
    if cursor.is_blank(0) { Ok(TokenKind::Tag { handle, suffix }) } else { Err(malformed()) }
}

fn name(cursor: &mut Cursor<'_>) -> String {
    let mut name = String::new();
    while cursor.is_name(0) {
        cursor.take(&mut name);
    }
    name
}

fn version(cursor: &mut Cursor<'_>, start: Mark) -> Result<TokenKind, ReadError> {
    cursor.skip_spaces_and_tabs();
    let major = version_number(cursor, start)?;
    if cursor.byte(0) != b'.' {
        return Err(ReadError::new(start, Problem::MalformedDirective));
    }
    cursor.skip();
    let minor = version_number(cursor, start)?;
    Ok(TokenKind::VersionDirective { major, minor })
}

fn version_number(cursor: &mut Cursor<'_>, start: Mark) -> Result<u8, ReadError> {
    let mut digits = String::new();
    while cursor.byte(0).is_ascii_digit() && digits.len() <= MAX_VERSION_DIGITS {
        cursor.take(&mut digits);
    }
    match digits.parse() {
        Ok(number) if digits.len() <= MAX_VERSION_DIGITS => Ok(number),
        _ => Err(ReadError::new(start, Problem::MalformedDirective)),
    }
}

fn tag_directive(cursor: &mut Cursor<'_>, start: Mark) -> Result<TokenKind, ReadError> {
    let malformed = || ReadError::new(start, Problem::MalformedDirective);
    cursor.skip_spaces_and_tabs();
    let handle = handle(cursor);
    if !handle.starts_with('!') || !handle.ends_with('!') || !cursor.is_space_or_tab(0) {
        return Err(malformed());
    }
    cursor.skip_spaces_and_tabs();
    let prefix = uri(cursor, start)?;
    if prefix.is_empty() || !cursor.is_blank(0) {
        return Err(malformed());
    }
    Ok(TokenKind::TagDirective { handle, prefix })
}

/// Scans `!`, `!name` or `!name!`; empty where no `!` stands.
fn handle(cursor: &mut Cursor<'_>) -> String {
    let mut handle = String::new();
    if cursor.byte(0) == b'!' {
        cursor.take(&mut handle);
        while cursor.is_name(0) {
            cursor.take(&mut handle);
        }
        if cursor.byte(0) == b'!' {
            cursor.take(&mut handle);
        }
    }
    handle
}

/// Scans what may stand in a URI; `%` starts the bytes of one escaped character.
fn uri(cursor: &mut Cursor<'_>, start: Mark) -> Result<String, ReadError> {
    let mut uri = String::new();
    loop {
        match cursor.byte(0) {
            b'%' => uri.push(escaped_character(cursor, start)?),
            byte if cursor.is_name(0) || b";/?:@&=+$,.!~*'()[]".contains(&byte) => cursor.take(&mut uri),
            _ => return Ok(uri),
        }
    }
}

fn escaped_character(cursor: &mut Cursor<'_>, start: Mark) -> Result<char, ReadError> {
    let malformed = || ReadError::new(start, Problem::MalformedTag);
    let first = escaped_byte(cursor).ok_or_else(malformed)?;
    let width = match first {
        0x00..=0x7F => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => return Err(malformed()),
    };
    let mut bytes = vec![first];
    while bytes.len() < width {
        match escaped_byte(cursor) {
            Some(next @ 0x80..=0xBF) => bytes.push(next),
            _ => return Err(malformed()),
        }
    }
    // Only known tags mean something, so what is no character may become any character.
    Ok(String::from_utf8_lossy(&bytes).chars().next().unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn escaped_byte(cursor: &mut Cursor<'_>) -> Option<u8> {
    let digits = [cursor.byte(1), cursor.byte(2)];
    if cursor.byte(0) != b'%' || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    cursor.skip_many(3);
    u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()
}
