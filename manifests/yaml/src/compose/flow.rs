//! Lists and mappings within brackets.

use super::{Allowed, Composer, NodeId, NodeKind, Properties};
use crate::cursor::Mark;
use crate::error::{Problem, ReadError};
use crate::token::TokenKind;

impl Composer<'_> {
    pub(super) fn flow_sequence(&mut self) -> Result<NodeKind, ReadError> {
        let start = self.scanner.next()?.start;
        let mut items = Vec::new();
        while self.is_flow_item(items.is_empty(), &TokenKind::FlowSequenceEnd, start)? {
            items.push(match self.scanner.peek()? {
                TokenKind::Key => {
                    let mark = self.scanner.next()?.start;
                    let properties = Properties { mark, anchor: None, tag: None };
                    self.collection(properties, Self::flow_pair)?
                }
                _ => self.node(Allowed::Flow)?,
            });
        }
        self.scanner.next()?;
        Ok(NodeKind::Sequence(items))
    }

    /// A mapping of one entry, without braces in a list.
    fn flow_pair(&mut self) -> Result<NodeKind, ReadError> {
        let key = match self.scanner.peek()? {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // libyaml drops this token, so that a pair without key is an error.
                self.scanner.next()?;
                self.nothing()?
            }
            _ => self.node(Allowed::Flow)?,
        };
        let value = self.flow_value()?;
        Ok(NodeKind::Mapping(vec![(key, value)]))
    }

    pub(super) fn flow_mapping(&mut self) -> Result<NodeKind, ReadError> {
        let start = self.scanner.next()?.start;
        let mut entries = Vec::new();
        while self.is_flow_item(entries.is_empty(), &TokenKind::FlowMappingEnd, start)? {
            if self.scanner.peek()? == &TokenKind::Key {
                self.scanner.next()?;
                let key = match self.scanner.peek()? {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => self.nothing()?,
                    _ => self.node(Allowed::Flow)?,
                };
                entries.push((key, self.flow_value()?));
            } else {
                entries.push((self.node(Allowed::Flow)?, self.nothing()?));
            }
        }
        self.scanner.next()?;
        Ok(NodeKind::Mapping(entries))
    }

    /// Whether one more item comes; takes the comma in front of it.
    fn is_flow_item(&mut self, is_first: bool, end: &TokenKind, start: Mark) -> Result<bool, ReadError> {
        if self.scanner.peek()? == end {
            return Ok(false);
        }
        if !is_first {
            if self.scanner.peek()? != &TokenKind::FlowEntry {
                let line = start.line + 1;
                return Err(self.error_here(match end {
                    TokenKind::FlowSequenceEnd => Problem::ExpectedSequenceEnd { line },
                    _ => Problem::ExpectedMappingEnd { line },
                }));
            }
            self.scanner.next()?;
        }
        Ok(self.scanner.peek()? != end)
    }

    /// What stands behind a key within brackets: nothing, or a colon and perhaps a value.
    fn flow_value(&mut self) -> Result<NodeId, ReadError> {
        if self.scanner.peek()? != &TokenKind::Value {
            return self.nothing();
        }
        self.scanner.next()?;
        match self.scanner.peek()? {
            TokenKind::FlowEntry | TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd => self.nothing(),
            _ => self.node(Allowed::Flow),
        }
    }
}
