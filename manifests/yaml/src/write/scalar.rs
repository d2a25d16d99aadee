//! Texts: which style each may have, and how each style is laid out.

use super::page::{Gap, INDENT, Page};
use crate::resolve::is_text;

/// Spaces behind this column become line breaks, where the style allows it.
const WIDTH: usize = 80;

/// What a text is written as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A key in front of its colon, which must stay in one line.
    SimpleKey,
    Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// A text with what matters for its style.
#[expect(clippy::struct_excessive_bools, reason = "independent observations about one text")]
pub(super) struct Text<'a> {
    content: &'a str,
    has_breaks: bool,
    /// Something that ends plain scalars or starts something else.
    has_indicators: bool,
    has_unprintable: bool,
    has_blank_start: bool,
    has_blank_end: bool,
    ends_in_space: bool,
    has_space_before_break: bool,
    has_space_after_break: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let is_blank = |character: char| character == ' ' || is_break(character);
        let mut analysed = Self {
            content: text,
            has_breaks: false,
            has_indicators: text.starts_with("---") || text.starts_with("..."),
            has_unprintable: false,
            has_blank_start: text.starts_with(is_blank),
            has_blank_end: text.ends_with(is_blank),
            ends_in_space: text.ends_with(' '),
            has_space_before_break: false,
            has_space_after_break: false,
        };
        let mut before = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            analysed.has_indicators |= is_indicator(character, before, characters.peek().copied());
            analysed.has_unprintable |= !is_printable(character);
            analysed.has_breaks |= is_break(character);
            analysed.has_space_after_break |= character == ' ' && before.is_some_and(is_break);
            analysed.has_space_before_break |= is_break(character) && before == Some(' ');
            before = Some(character);
        }
        analysed
    }

    pub(super) fn has_breaks(&self) -> bool {
        self.has_breaks
    }

    fn style(&self, context: Context) -> Style {
        let wanted = if self.content.contains('\n') {
            Style::Literal
        } else if is_text(self.content) && !is_base_60(self.content) {
            Style::Plain
        } else {
            Style::DoubleQuoted
        };
        let is_simple = context == Context::SimpleKey;
        match wanted {
            _ if is_simple && self.has_breaks => Style::DoubleQuoted,
            Style::Plain if self.may_be_plain() => Style::Plain,
            Style::Plain if self.may_be_single_quoted() => Style::SingleQuoted,
            Style::Literal if self.may_be_literal() && !is_simple => Style::Literal,
            _ => Style::DoubleQuoted,
        }
    }

    fn may_be_plain(&self) -> bool {
        self.may_be_single_quoted()
            && !(self.has_breaks || self.has_indicators || self.has_blank_start || self.has_blank_end)
    }

    fn may_be_single_quoted(&self) -> bool {
        !(self.has_unprintable || self.has_space_before_break || self.has_space_after_break)
    }

    fn may_be_literal(&self) -> bool {
        !(self.has_unprintable || self.has_space_before_break || self.ends_in_space)
    }
}

/// Writes a text in the style that fits.
pub(super) fn write(page: &mut Page, text: &Text<'_>, context: Context) {
    let outer_indent = page.indent;
    page.indent = Some(outer_indent.map_or(INDENT, |column| column + INDENT));
    match text.style(context) {
        Style::Plain => plain(page, text.content, context),
        Style::SingleQuoted => single_quoted(page, text.content, context),
        Style::DoubleQuoted => double_quoted(page, text.content, context),
        Style::Literal => literal(page, text.content),
    }
    page.indent = outer_indent;
}

fn plain(page: &mut Page, text: &str, context: Context) {
    page.indicator("", Gap::Space);
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_alone = before != Some(' ') && characters.peek() != Some(&' ');
        if character == ' ' && is_alone && is_foldable(page, context) {
            page.start_line();
        } else {
            page.put(character);
            page.is_at_indent &= character == ' ';
        }
        before = Some(character);
    }
    end_scalar(page);
}

fn single_quoted(page: &mut Page, text: &str, context: Context) {
    page.indicator("'", Gap::Space);
    let (mut before, mut follows_break) = (None, false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == ' ' {
            let is_inner = before.is_some() && characters.peek().is_some_and(|next| *next != ' ');
            if is_inner && before != Some(' ') && is_foldable(page, context) {
                page.start_line();
            } else {
                page.put(' ');
            }
        } else if is_break(character) {
            if !follows_break && character == '\n' {
                page.line_break();
            }
            page.put_break(character);
            page.is_at_indent = true;
            follows_break = true;
        } else {
            if follows_break {
                page.start_line();
            }
            if character == '\'' {
                page.put('\'');
            }
            page.put(character);
            page.is_at_indent = false;
            follows_break = false;
        }
        before = Some(character);
    }
    page.indicator("'", Gap::None);
    end_scalar(page);
}

fn double_quoted(page: &mut Page, text: &str, context: Context) {
    page.indicator("\"", Gap::Space);
    // Go's library looks for a byte order mark at the start of the text, whichever character it is at.
    let must_escape_all = text.starts_with('\u{feff}');
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if must_escape_all
            || !is_printable(character)
            || is_break(character)
            || matches!(character, '"' | '\\')
        {
            escape(page, character);
        } else if character == ' ' {
            let is_inner = before.is_some() && characters.peek().is_some();
            if is_inner && before != Some(' ') && is_foldable(page, context) {
                page.start_line();
                if characters.peek() == Some(&' ') {
                    page.put('\\');
                }
            } else {
                page.put(' ');
            }
        } else {
            page.put(character);
        }
        before = Some(character);
    }
    page.indicator("\"", Gap::None);
    end_scalar(page);
}

fn literal(page: &mut Page, text: &str) {
    page.indicator("|", Gap::Space);
    if text.starts_with(|character: char| character == ' ' || is_break(character)) {
        page.indicator(&INDENT.to_string(), Gap::None);
    }
    let mut from_end = text.chars().rev();
    match (from_end.next().is_some_and(is_break), from_end.next().is_none_or(is_break)) {
        (false, _) => page.indicator("-", Gap::None),
        (true, true) => page.indicator("+", Gap::None),
        (true, false) => {}
    }
    page.line_break();
    page.is_at_indent = true;
    page.ends_in_space = true;
    let mut follows_break = true;
    for character in text.chars() {
        if is_break(character) {
            page.put_break(character);
            page.is_at_indent = true;
            follows_break = true;
        } else {
            if follows_break {
                page.start_line();
            }
            page.put(character);
            page.is_at_indent = false;
            follows_break = false;
        }
    }
}

fn end_scalar(page: &mut Page) {
    page.ends_in_space = false;
    page.is_at_indent = false;
}

fn is_foldable(page: &Page, context: Context) -> bool {
    context == Context::Value && page.column > WIDTH
}

fn escape(page: &mut Page, character: char) {
    page.put('\\');
    let short = match character {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(character);
            let long = match code {
                0..=0xFF => format!("x{code:02X}"),
                0x100..=0xFFFF => format!("u{code:04X}"),
                _ => format!("U{code:08X}"),
            };
            long.chars().for_each(|digit| page.put(digit));
            return;
        }
    };
    page.put(short);
}

fn is_indicator(character: char, before: Option<char>, after: Option<char>) -> bool {
    let is_followed_by_blank = after.is_none_or(|after| matches!(after, ' ' | '\t'));
    match (before, character) {
        (
            None,
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
        ) => true,
        (None, '?' | '-') | (_, ':') => is_followed_by_blank,
        (Some(before), '#') => matches!(before, ' ' | '\t' | '\0') || is_break(before),
        _ => false,
    }
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What needs no escape. Everything above U+FFFF needs one, by Go's library.
fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Whether the text is a number like `1:30`, which other readers of YAML 1.1 take for 90.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    let mut rest: Vec<&str> = parts.collect();
    let Some(last) = rest.pop() else { return false };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_sexagesimal = |text: &str| match text.as_bytes() {
        [tens, ones] => (b'0'..=b'5').contains(tens) && ones.is_ascii_digit(),
        [ones] => ones.is_ascii_digit(),
        _ => false,
    };
    first.starts_with(|character: char| character.is_ascii_digit())
        && is_digits(first)
        && is_digits(fraction)
        && rest.into_iter().chain([last]).all(is_sexagesimal)
}
