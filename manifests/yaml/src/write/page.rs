//! The text so far, with what the layout rules ask about it.

/// By how much one level is indented, in columns.
pub(super) const INDENT: usize = 2;

/// What must be in front of an indicator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    None,
    Space,
}

/// A text that is written from top to bottom.
pub(super) struct Page {
    text: String,
    /// The column of the next character.
    pub(super) column: usize,
    /// The column of the innermost collection; none outside of all.
    pub(super) indent: Option<usize>,
    /// Whether the last character needs no space behind it.
    pub(super) ends_in_space: bool,
    /// Whether the line has nothing but indentation, and dashes and the like which count as such.
    pub(super) is_at_indent: bool,
}

impl Page {
    pub(super) fn new() -> Self {
        Self { text: String::new(), column: 0, indent: None, ends_in_space: true, is_at_indent: true }
    }

    pub(super) fn finish(mut self) -> String {
        self.start_line();
        self.text
    }

    /// Indents for a mapping or a list.
    pub(super) fn indent_block(&mut self) {
        self.indent = Some(self.indent.map_or(0, |column| column + INDENT));
    }

    /// Goes to the indentation: in this line if nothing else is in it, or else in the next.
    pub(super) fn start_line(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.is_at_indent || self.column > indent || (self.column == indent && !self.ends_in_space) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.ends_in_space = true;
        self.is_at_indent = true;
    }

    /// Writes what is no part of the indentation.
    pub(super) fn indicator(&mut self, indicator: &str, gap: Gap) {
        self.is_at_indent = false;
        self.put_indicator(indicator, gap);
    }

    /// Writes `-`, `?` or `:`, behind which a collection may start in the same line.
    pub(super) fn block_indicator(&mut self, indicator: &str) {
        self.put_indicator(indicator, Gap::Space);
    }

    pub(super) fn put(&mut self, character: char) {
        self.text.push(character);
        self.column += 1;
    }

    pub(super) fn line_break(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    /// Writes a line break of a text as it is.
    pub(super) fn put_break(&mut self, character: char) {
        self.text.push(character);
        self.column = 0;
    }

    fn put_indicator(&mut self, indicator: &str, gap: Gap) {
        if gap == Gap::Space && !self.ends_in_space {
            self.put(' ');
        }
        indicator.chars().for_each(|character| self.put(character));
        self.ends_in_space = false;
    }
}
