//! A position in a text, and the character classes of YAML 1.1.

/// A place in the text; all three count characters from zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Walks over a text character by character. Past its end, it sees NUL for ever.
///
/// Looking ahead counts bytes: everything that is looked for behind the first character follows ASCII.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    mark: Mark,
}

impl<'a> Cursor<'a> {
    /// Starts at the first character after a byte order mark, if there is one.
    pub(crate) fn new(text: &'a str) -> Self {
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, offset, mark: Mark::default() }
    }

    pub(crate) fn mark(&self) -> Mark {
        self.mark
    }

    pub(crate) fn column(&self) -> usize {
        self.mark.column
    }

    /// The position in bytes.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The byte `ahead` bytes further on.
    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.offset + ahead).copied().unwrap_or(0)
    }

    /// Whether `text` comes next.
    pub(crate) fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    pub(crate) fn is_end(&self) -> bool {
        self.byte(0) == 0
    }

    pub(crate) fn is_space_or_tab(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// Line breaks are CR, LF, NEL, LS and PS.
    pub(crate) fn is_break(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            b'\r' | b'\n' => true,
            0xC2 => self.byte(ahead + 1) == 0x85,
            0xE2 => self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xA8 | 0xA9),
            _ => false,
        }
    }

    pub(crate) fn is_break_or_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    /// Whether a space, a tab, a line break or the end follows.
    pub(crate) fn is_blank(&self, ahead: usize) -> bool {
        self.is_space_or_tab(ahead) || self.is_break_or_end(ahead)
    }

    /// Whether a letter, a digit, `_` or `-` follows: what names are made of.
    pub(crate) fn is_name(&self, ahead: usize) -> bool {
        let byte = self.byte(ahead);
        byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
    }

    /// Whether a line with `---` or `...` starts here.
    pub(crate) fn is_document_indicator(&self) -> bool {
        self.mark.column == 0 && (self.starts_with("---") || self.starts_with("...")) && self.is_blank(3)
    }

    /// Steps over one character that is no line break.
    pub(crate) fn skip(&mut self) {
        self.offset += self.width();
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Steps over `count` characters.
    pub(crate) fn skip_many(&mut self, count: usize) {
        for _ in 0..count {
            self.skip();
        }
    }

    /// Steps over one character that is no line break and appends it.
    pub(crate) fn take(&mut self, into: &mut String) {
        let width = self.width();
        into.push_str(self.text.get(self.offset..self.offset + width).unwrap_or_default());
        self.skip();
    }

    /// Steps over spaces and tabs.
    pub(crate) fn skip_spaces_and_tabs(&mut self) {
        while self.is_space_or_tab(0) {
            self.skip();
        }
    }

    /// Steps over a comment, up to its line break.
    pub(crate) fn skip_comment(&mut self) {
        if self.byte(0) == b'#' {
            while !self.is_break_or_end(0) {
                self.skip();
            }
        }
    }

    /// Steps over one line break, if there is one.
    pub(crate) fn skip_break(&mut self) {
        if !self.is_break(0) {
            return;
        }
        let is_pair = self.starts_with("\r\n");
        self.offset += if is_pair { 2 } else { self.width() };
        self.mark.index += if is_pair { 2 } else { 1 };
        self.mark.column = 0;
        self.mark.line += 1;
    }

    /// Steps over one line break and appends it: LS and PS as they are, all others as LF.
    pub(crate) fn take_break(&mut self, into: &mut String) {
        match self.byte(0) {
            0xE2 => into.push(if self.byte(2) == 0xA8 { '\u{2028}' } else { '\u{2029}' }),
            _ => into.push('\n'),
        }
        self.skip_break();
    }

    /// Steps to column zero of the next line, as the end of the text ends its last line.
    pub(crate) fn end_line(&mut self) {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// The number of bytes of the next character.
    fn width(&self) -> usize {
        match self.text.as_bytes().get(self.offset) {
            None => 0,
            Some(0..=0x7F) => 1,
            Some(0x80..=0xDF) => 2,
            Some(0xE0..=0xEF) => 3,
            Some(0xF0..) => 4,
        }
    }
}
