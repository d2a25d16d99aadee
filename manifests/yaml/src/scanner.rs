//! Text to tokens, by libyaml's rules.
//!
//! The difficulty of YAML is that a key is recognised by the colon behind it. The scanner therefore remembers
//! where a key may have started (one place for each level of brackets) and holds back the tokens since then:
//! when the colon comes, it inserts the `Key` token, and perhaps the start of a mapping, in front of them.

mod property;
mod scalar;

use std::collections::VecDeque;

use crate::cursor::{Cursor, Mark};
use crate::error::{Problem, ReadError};
use crate::token::{ScalarStyle, Token, TokenKind};

/// How far its colon may be behind the start of a key, in characters.
const MAX_KEY_CHARACTERS: usize = 1024;

/// A place where a key may have started.
#[derive(Debug, Clone, Copy)]
struct PossibleKey {
    /// Whether nothing but a key can stand there.
    is_required: bool,
    /// The number of the token that would be the key, counted from the start of the text.
    token_number: usize,
    /// Whether that token waits in the queue until its colon is found, or is out of reach.
    holds_token: bool,
    mark: Mark,
}

/// One level of brackets.
struct FlowLevel {
    /// The number of the token of its opening bracket.
    token_number: usize,
    key: Option<PossibleKey>,
    has_had_key: bool,
}

/// Makes tokens when asked for them.
pub(crate) struct Scanner<'a> {
    cursor: Cursor<'a>,
    tokens: VecDeque<Token>,
    /// The number of tokens that left the queue.
    taken: usize,
    /// The column of the innermost block collection; none outside of all.
    indent: Option<usize>,
    outer_indents: Vec<Option<usize>>,
    is_key_allowed: bool,
    /// The possible key outside of brackets.
    block_key: Option<PossibleKey>,
    /// The open brackets, outermost first.
    flow_levels: Vec<FlowLevel>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            cursor: Cursor::new(text),
            tokens: VecDeque::new(),
            taken: 0,
            indent: None,
            outer_indents: Vec::new(),
            is_key_allowed: true,
            block_key: None,
            flow_levels: Vec::new(),
        }
    }

    /// How far the scanner has read, in bytes.
    pub(crate) fn offset(&self) -> usize {
        self.cursor.offset()
    }

    /// The next token, which stays. After the end of the text it is `StreamEnd`, for ever.
    pub(crate) fn peek(&mut self) -> Result<&TokenKind, ReadError> {
        self.fetch_until_decided()?;
        Ok(self.tokens.front().map_or(&TokenKind::StreamEnd, |token| &token.kind))
    }

    /// Where the next token starts.
    pub(crate) fn peek_mark(&mut self) -> Result<Mark, ReadError> {
        self.fetch_until_decided()?;
        Ok(self.tokens.front().map_or_else(|| self.cursor.mark(), |token| token.start))
    }

    /// Takes the next token away.
    pub(crate) fn next(&mut self) -> Result<Token, ReadError> {
        self.fetch_until_decided()?;
        self.taken += 1;
        Ok(self.tokens.pop_front().unwrap_or(Token { kind: TokenKind::StreamEnd, start: self.cursor.mark() }))
    }

    /// Fetches tokens until it is known whether the first of them is a key.
    fn fetch_until_decided(&mut self) -> Result<(), ReadError> {
        while self.tokens.is_empty() || self.is_front_undecided()? {
            self.fetch()?;
        }
        Ok(())
    }

    fn is_front_undecided(&mut self) -> Result<bool, ReadError> {
        let (taken, mark) = (self.taken, self.cursor.mark());
        let flow_slots = self.flow_levels.iter_mut().map(|level| &mut level.key);
        let is_held = |key: PossibleKey| key.token_number == taken && key.holds_token;
        match std::iter::once(&mut self.block_key).chain(flow_slots).find(|slot| slot.is_some_and(is_held)) {
            Some(slot) => still_possible(slot, mark).map(|key| key.is_some()),
            None => Ok(false),
        }
    }

    fn fetch(&mut self) -> Result<(), ReadError> {
        self.skip_to_token();
        self.close_blocks(Some(self.cursor.column()));
        if self.cursor.is_end() {
            return self.fetch_stream_end();
        }
        if self.cursor.column() == 0 && self.cursor.byte(0) == b'%' {
            return self.fetch_directive();
        }
        if self.cursor.is_document_indicator() {
            return self.fetch_document_indicator();
        }
        match self.cursor.byte(0) {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.cursor.is_blank(1) => self.fetch_block_entry(),
            b'?' if self.is_flow() || self.cursor.is_blank(1) => self.fetch_key(),
            b':' if self.is_flow() || self.cursor.is_blank(1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(),
            b'!' => self.fetch_tag(),
            b'|' | b'>' if !self.is_flow() => self.fetch_block_scalar(),
            b'\'' | b'"' => self.fetch_quoted(),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => Err(self.unexpected()),
            _ => self.fetch_plain(),
        }
    }

    /// Steps over white space and comments. A tab may not stand where a key may start, or it would indent it.
    fn skip_to_token(&mut self) {
        loop {
            while self.cursor.byte(0) == b' '
                || (self.cursor.byte(0) == b'\t' && (self.is_flow() || !self.is_key_allowed))
            {
                self.cursor.skip();
            }
            self.cursor.skip_comment();
            if !self.cursor.is_break(0) {
                return;
            }
            self.cursor.skip_break();
            if !self.is_flow() {
                self.is_key_allowed = true;
            }
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), ReadError> {
        self.cursor.end_line();
        self.end_document()?;
        self.push(TokenKind::StreamEnd, self.cursor.mark());
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), ReadError> {
        self.end_document()?;
        let start = self.cursor.mark();
        let kind = property::directive(&mut self.cursor)?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_document_indicator(&mut self) -> Result<(), ReadError> {
        self.end_document()?;
        let start = self.cursor.mark();
        let kind =
            if self.cursor.byte(0) == b'-' { TokenKind::DocumentStart } else { TokenKind::DocumentEnd };
        self.cursor.skip_many(3);
        self.push(kind, start);
        Ok(())
    }

    /// Closes all blocks; the brackets are the parser's to complain about.
    fn end_document(&mut self) -> Result<(), ReadError> {
        self.close_blocks(None);
        self.forget_key()?;
        self.is_key_allowed = false;
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), ReadError> {
        self.remember_key()?;
        let token_number = self.taken + self.tokens.len();
        self.flow_levels.push(FlowLevel { token_number, key: None, has_had_key: false });
        self.is_key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), ReadError> {
        self.forget_key()?;
        if let Some(level) = self.flow_levels.pop()
            && !level.has_had_key
            && let Some(key) = self.key_slot()
            && key.token_number == level.token_number
        {
            // Go's port of libyaml forgets here that empty brackets may be a key, and hands them out before
            // their colon: a document of nothing but `{}: 1` is an empty mapping with something behind it.
            key.holds_token = false;
        }
        self.is_key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), ReadError> {
        self.forget_key()?;
        self.is_key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), ReadError> {
        if !self.is_flow() {
            if !self.is_key_allowed {
                return Err(self.error(Problem::UnexpectedEntry));
            }
            self.open_block(TokenKind::BlockSequenceStart, self.cursor.mark(), self.tokens.len());
        }
        self.forget_key()?;
        self.is_key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), ReadError> {
        if !self.is_flow() {
            if !self.is_key_allowed {
                return Err(self.error(Problem::UnexpectedKey));
            }
            self.open_block(TokenKind::BlockMappingStart, self.cursor.mark(), self.tokens.len());
        }
        self.forget_key()?;
        self.is_key_allowed = !self.is_flow();
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), ReadError> {
        let mark = self.cursor.mark();
        if let Some(key) = still_possible(self.key_slot(), mark)? {
            *self.key_slot() = None;
            let (position, mapping_position) = match key.token_number.checked_sub(self.taken) {
                Some(position) => (position.min(self.tokens.len()), position.min(self.tokens.len())),
                // The token is gone; what it should have had in front comes too late, as an error.
                None => (self.tokens.len(), self.tokens.len() + 1),
            };
            self.tokens.insert(position, Token { kind: TokenKind::Key, start: key.mark });
            self.open_block(TokenKind::BlockMappingStart, key.mark, mapping_position);
            self.is_key_allowed = false;
        } else {
            if !self.is_flow() {
                if !self.is_key_allowed {
                    return Err(self.error(Problem::UnexpectedValue));
                }
                self.open_block(TokenKind::BlockMappingStart, mark, self.tokens.len());
            }
            self.is_key_allowed = !self.is_flow();
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn fetch_anchor(&mut self) -> Result<(), ReadError> {
        self.remember_key()?;
        self.is_key_allowed = false;
        let start = self.cursor.mark();
        let kind = property::anchor(&mut self.cursor)?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_tag(&mut self) -> Result<(), ReadError> {
        self.remember_key()?;
        self.is_key_allowed = false;
        let start = self.cursor.mark();
        let kind = property::tag(&mut self.cursor)?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_block_scalar(&mut self) -> Result<(), ReadError> {
        self.forget_key()?;
        self.is_key_allowed = true;
        let start = self.cursor.mark();
        let value = scalar::block(&mut self.cursor, self.indent)?;
        self.push(TokenKind::Scalar { value, style: ScalarStyle::Quoted }, start);
        Ok(())
    }

    fn fetch_quoted(&mut self) -> Result<(), ReadError> {
        self.remember_key()?;
        self.is_key_allowed = false;
        let start = self.cursor.mark();
        let value = scalar::quoted(&mut self.cursor)?;
        self.push(TokenKind::Scalar { value, style: ScalarStyle::Quoted }, start);
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<(), ReadError> {
        self.remember_key()?;
        let start = self.cursor.mark();
        let place =
            scalar::Place { is_flow: self.is_flow(), indent: self.indent.map_or(0, |column| column + 1) };
        let plain = scalar::plain(&mut self.cursor, place)?;
        // Behind a line break, a key may start again.
        self.is_key_allowed = plain.ends_in_new_line;
        self.push(TokenKind::Scalar { value: plain.value, style: ScalarStyle::Plain }, start);
        Ok(())
    }

    fn is_flow(&self) -> bool {
        !self.flow_levels.is_empty()
    }

    fn key_slot(&mut self) -> &mut Option<PossibleKey> {
        self.flow_levels.last_mut().map_or(&mut self.block_key, |level| &mut level.key)
    }

    /// Notes that the next token may be a key.
    fn remember_key(&mut self) -> Result<(), ReadError> {
        if !self.is_key_allowed {
            return Ok(());
        }
        let key = PossibleKey {
            is_required: !self.is_flow() && self.indent == Some(self.cursor.column()),
            token_number: self.taken + self.tokens.len(),
            holds_token: true,
            mark: self.cursor.mark(),
        };
        self.forget_key()?;
        *self.key_slot() = Some(key);
        if let Some(level) = self.flow_levels.last_mut() {
            level.has_had_key = true;
        }
        Ok(())
    }

    /// Notes that what may have been a key is none.
    fn forget_key(&mut self) -> Result<(), ReadError> {
        match self.key_slot().take() {
            Some(key) if key.is_required => Err(ReadError::new(key.mark, Problem::MissingColon)),
            _ => Ok(()),
        }
    }

    /// Starts a block collection at `mark` if it is indented deeper than the one around it.
    fn open_block(&mut self, kind: TokenKind, mark: Mark, position: usize) {
        if !self.is_flow() && self.indent < Some(mark.column) {
            self.outer_indents.push(self.indent);
            self.indent = Some(mark.column);
            self.tokens.insert(position, Token { kind, start: mark });
        }
    }

    /// Ends all block collections that are indented deeper than `column`.
    fn close_blocks(&mut self, column: Option<usize>) {
        while !self.is_flow() && self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark());
            self.indent = self.outer_indents.pop().flatten();
        }
    }

    /// Pushes a token of one character.
    fn push_indicator(&mut self, kind: TokenKind) {
        self.push(kind, self.cursor.mark());
        self.cursor.skip();
    }

    fn push(&mut self, kind: TokenKind, start: Mark) {
        self.tokens.push_back(Token { kind, start });
    }

    fn error(&self, problem: Problem) -> ReadError {
        ReadError::new(self.cursor.mark(), problem)
    }

    fn unexpected(&self) -> ReadError {
        self.error(match self.cursor.byte(0) {
            b'\t' => Problem::TabIndentation,
            byte => Problem::UnexpectedCharacter { character: char::from(byte) },
        })
    }
}

/// The key in the slot if its colon may still come; a key is one line and no longer than its bound.
fn still_possible(slot: &mut Option<PossibleKey>, now: Mark) -> Result<Option<PossibleKey>, ReadError> {
    let Some(key) = *slot else { return Ok(None) };
    if key.mark.line >= now.line && key.mark.index + MAX_KEY_CHARACTERS >= now.index {
        return Ok(Some(key));
    }
    if key.is_required {
        return Err(ReadError::new(key.mark, Problem::MissingColon));
    }
    *slot = None;
    Ok(None)
}
