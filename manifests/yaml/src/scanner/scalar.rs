//! Plain, quoted and block scalars, with their line folding.

use crate::cursor::{Cursor, Mark};
use crate::error::{Problem, ReadError};

/// Where a plain scalar stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Whether brackets are around it, which it then may not contain.
    pub(super) is_flow: bool,
    /// The first column that its further lines may start in.
    pub(super) indent: usize,
}

/// A plain scalar.
pub(super) struct Plain {
    pub(super) value: String,
    /// Whether the white space behind it had a line break.
    pub(super) ends_in_new_line: bool,
}

/// What is between two words: either white space, or line breaks of which the first is special.
#[derive(Default)]
struct Gap {
    spaces: String,
    first_break: String,
    more_breaks: String,
    has_break: bool,
}

impl Gap {
    fn is_pending(&self) -> bool {
        self.has_break || !self.spaces.is_empty()
    }

    /// Steps over white space and line breaks.
    fn scan(&mut self, cursor: &mut Cursor<'_>) {
        while cursor.is_space_or_tab(0) || cursor.is_break(0) {
            self.scan_one(cursor);
        }
    }

    fn scan_one(&mut self, cursor: &mut Cursor<'_>) {
        if cursor.is_break(0) {
            self.spaces.clear();
            cursor.take_break(if self.has_break { &mut self.more_breaks } else { &mut self.first_break });
            self.has_break = true;
        } else if self.has_break {
            cursor.skip();
        } else {
            cursor.take(&mut self.spaces);
        }
    }

    /// Appends the gap, and empties it: one line break becomes a space, more of them lose the first.
    fn fold_into(&mut self, value: &mut String) {
        if self.has_break {
            match (self.first_break.as_str(), self.more_breaks.as_str()) {
                ("\n", "") => value.push(' '),
                ("\n", more) => value.push_str(more),
                (first, more) => {
                    value.push_str(first);
                    value.push_str(more);
                }
            }
        } else {
            value.push_str(&self.spaces);
        }
        self.spaces.clear();
        self.first_break.clear();
        self.more_breaks.clear();
        self.has_break = false;
    }
}

/// Scans a plain scalar and the white space behind it.
pub(super) fn plain(cursor: &mut Cursor<'_>, place: Place) -> Result<Plain, ReadError> {
    let start = cursor.mark();
    let mut value = String::new();
    let mut gap = Gap::default();
    loop {
        if cursor.is_document_indicator() || cursor.byte(0) == b'#' {
            break;
        }
        while !cursor.is_blank(0) && !ends_plain(cursor, place) {
            if gap.is_pending() {
                gap.fold_into(&mut value);
            }
            cursor.take(&mut value);
        }
        if !cursor.is_space_or_tab(0) && !cursor.is_break(0) {
            break;
        }
        while cursor.is_space_or_tab(0) || cursor.is_break(0) {
            if gap.has_break && cursor.byte(0) == b'\t' && cursor.column() < place.indent {
                return Err(ReadError::new(cursor.mark(), Problem::TabIndentation));
            }
            gap.scan_one(cursor);
        }
        if !place.is_flow && cursor.column() < place.indent {
            break;
        }
    }
    if cursor.mark() == start {
        // A character that starts a plain scalar and ends it too would be scanned for ever.
        return Err(ReadError::new(start, Problem::ExpectedContent));
    }
    Ok(Plain { value, ends_in_new_line: gap.has_break })
}

fn ends_plain(cursor: &Cursor<'_>, place: Place) -> bool {
    match cursor.byte(0) {
        b':' => cursor.is_blank(1),
        b',' | b'?' | b'[' | b']' | b'{' | b'}' => place.is_flow,
        _ => false,
    }
}

/// Scans a scalar in single or double quotes.
pub(super) fn quoted(cursor: &mut Cursor<'_>) -> Result<String, ReadError> {
    let start = cursor.mark();
    let quote = cursor.byte(0);
    cursor.skip();
    let mut value = String::new();
    let mut gap = Gap::default();
    loop {
        if cursor.is_document_indicator() {
            return Err(ReadError::new(cursor.mark(), Problem::QuoteCutByDocument { line: start.line + 1 }));
        }
        if cursor.is_end() {
            return Err(ReadError::new(start, Problem::UnclosedQuote { line: start.line + 1 }));
        }
        if quote == b'\'' {
            single_quoted_word(cursor, &mut value);
        } else {
            double_quoted_word(cursor, &mut value, &mut gap)?;
        }
        if cursor.byte(0) == quote {
            cursor.skip();
            return Ok(value);
        }
        gap.scan(cursor);
        gap.fold_into(&mut value);
    }
}

/// Stops at white space and at the closing quote.
fn single_quoted_word(cursor: &mut Cursor<'_>, value: &mut String) {
    while !cursor.is_blank(0) {
        if cursor.byte(0) == b'\'' {
            if cursor.byte(1) != b'\'' {
                return;
            }
            cursor.skip();
        }
        cursor.take(value);
    }
}

/// Stops at white space, at the closing quote, and behind an escaped line break, which it puts into the gap.
fn double_quoted_word(cursor: &mut Cursor<'_>, value: &mut String, gap: &mut Gap) -> Result<(), ReadError> {
    while !cursor.is_blank(0) {
        match cursor.byte(0) {
            b'"' => return Ok(()),
            b'\\' if cursor.is_break(1) => {
                cursor.skip();
                cursor.skip_break();
                gap.has_break = true;
                return Ok(());
            }
            b'\\' => value.push(escape(cursor)?),
            _ => cursor.take(value),
        }
    }
    Ok(())
}

fn escape(cursor: &mut Cursor<'_>) -> Result<char, ReadError> {
    let start = cursor.mark();
    let (character, digits) = match cursor.byte(1) {
        b'0' => ('\0', 0),
        b'a' => ('\x07', 0),
        b'b' => ('\x08', 0),
        b't' | b'\t' => ('\t', 0),
        b'n' => ('\n', 0),
        b'v' => ('\x0b', 0),
        b'f' => ('\x0c', 0),
        b'r' => ('\r', 0),
        b'e' => ('\x1b', 0),
        b' ' => (' ', 0),
        b'"' => ('"', 0),
        b'\'' => ('\'', 0),
        b'\\' => ('\\', 0),
        b'N' => ('\u{85}', 0),
        b'_' => ('\u{a0}', 0),
        b'L' => ('\u{2028}', 0),
        b'P' => ('\u{2029}', 0),
        b'x' => ('\0', 2),
        b'u' => ('\0', 4),
        b'U' => ('\0', 8),
        _ => return Err(ReadError::new(start, Problem::UnknownEscape)),
    };
    cursor.skip_many(2);
    if digits == 0 { Ok(character) } else { code_point(cursor, digits, start) }
}

fn code_point(cursor: &mut Cursor<'_>, digits: usize, start: Mark) -> Result<char, ReadError> {
    let mut code = 0;
    for _ in 0..digits {
        let digit = char::from(cursor.byte(0)).to_digit(16);
        let digit = digit.ok_or_else(|| ReadError::new(start, Problem::InvalidEscape))?;
        code = code * 16 + digit;
        cursor.skip();
    }
    char::from_u32(code).ok_or_else(|| ReadError::new(start, Problem::InvalidEscape))
}

/// What happens to the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

/// Scans a block scalar, with the indentation of the block around it.
pub(super) fn block(cursor: &mut Cursor<'_>, outer: Option<usize>) -> Result<String, ReadError> {
    let is_literal = cursor.byte(0) == b'|';
    let (chomping, increment) = block_header(cursor)?;
    // No indentation is known yet: the first line that is not blank has it.
    let mut indent = increment.map(|increment| outer.unwrap_or(0) + increment);
    let mut value = String::new();
    let mut first_break = String::new();
    let mut more_breaks = String::new();
    let content_indent = block_breaks(cursor, indent, outer, &mut more_breaks)?;
    indent = Some(content_indent);
    let mut follows_indented = false;
    while cursor.column() == content_indent && !cursor.is_end() {
        let is_indented = cursor.is_space_or_tab(0);
        if !is_literal && first_break == "\n" && !follows_indented && !is_indented {
            if more_breaks.is_empty() {
                value.push(' ');
            }
        } else {
            value.push_str(&first_break);
        }
        first_break.clear();
        value.push_str(&more_breaks);
        more_breaks.clear();
        follows_indented = is_indented;
        while !cursor.is_break_or_end(0) {
            cursor.take(&mut value);
        }
        if cursor.is_break(0) {
            cursor.take_break(&mut first_break);
        }
        block_breaks(cursor, indent, outer, &mut more_breaks)?;
    }
    if chomping != Chomping::Strip {
        value.push_str(&first_break);
    }
    if chomping == Chomping::Keep {
        value.push_str(&more_breaks);
    }
    Ok(value)
}

/// Scans `|` or `>`, its indicators in any order, and the rest of the line.
fn block_header(cursor: &mut Cursor<'_>) -> Result<(Chomping, Option<usize>), ReadError> {
    let start = cursor.mark();
    cursor.skip();
    let mut chomping = block_chomping(cursor);
    let increment = block_increment(cursor);
    if chomping.is_none() && increment.is_some() {
        chomping = block_chomping(cursor);
    }
    cursor.skip_spaces_and_tabs();
    cursor.skip_comment();
    if increment == Some(0) || !cursor.is_break_or_end(0) {
        return Err(ReadError::new(start, Problem::MalformedBlockHeader));
    }
    cursor.skip_break();
    Ok((chomping.unwrap_or(Chomping::Clip), increment))
}

fn block_chomping(cursor: &mut Cursor<'_>) -> Option<Chomping> {
    let chomping = match cursor.byte(0) {
        b'+' => Chomping::Keep,
        b'-' => Chomping::Strip,
        _ => return None,
    };
    cursor.skip();
    Some(chomping)
}

fn block_increment(cursor: &mut Cursor<'_>) -> Option<usize> {
    let byte = cursor.byte(0);
    if !byte.is_ascii_digit() {
        return None;
    }
    cursor.skip();
    Some(usize::from(byte - b'0'))
}

/// Steps over indentation and blank lines, and returns the indentation: the given one, or that of the longest
/// line seen.
fn block_breaks(
    cursor: &mut Cursor<'_>,
    indent: Option<usize>,
    outer: Option<usize>,
    breaks: &mut String,
) -> Result<usize, ReadError> {
    let mut longest = 0;
    let is_within = |cursor: &Cursor<'_>| indent.is_none_or(|indent| cursor.column() < indent);
    loop {
        while is_within(cursor) && cursor.byte(0) == b' ' {
            cursor.skip();
        }
        longest = longest.max(cursor.column());
        if is_within(cursor) && cursor.byte(0) == b'\t' {
            return Err(ReadError::new(cursor.mark(), Problem::TabIndentation));
        }
        if !cursor.is_break(0) {
            break;
        }
        cursor.take_break(breaks);
    }
    Ok(indent.unwrap_or_else(|| longest.max(outer.map_or(0, |column| column + 1)).max(1)))
}
