//! Lists and mappings that indentation makes.

use super::{Allowed, Composer, NodeId, NodeKind};
use crate::error::{Problem, ReadError};
use crate::token::TokenKind;

impl Composer<'_> {
    pub(super) fn block_sequence(&mut self) -> Result<NodeKind, ReadError> {
        self.scanner.next()?;
        let mut items = Vec::new();
        loop {
            match self.scanner.peek()? {
                TokenKind::BlockEntry => {
                    self.scanner.next()?;
                    items.push(match self.scanner.peek()? {
                        TokenKind::BlockEntry | TokenKind::BlockEnd => self.nothing(),
                        _ => self.node(Allowed::Block),
                    }?);
                }
                TokenKind::BlockEnd => {
                    self.scanner.next()?;
                    return Ok(NodeKind::Sequence(items));
                }
                _ => return Err(self.error_here(Problem::ExpectedEntry)),
            }
        }
    }

    /// The entries of a list whose dashes stand below the key of its mapping.
    pub(super) fn dashes(&mut self) -> Result<NodeKind, ReadError> {
        let mut items = Vec::new();
        while self.scanner.peek()? == &TokenKind::BlockEntry {
            self.scanner.next()?;
            items.push(match self.scanner.peek()? {
                TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                    self.nothing()
                }
                _ => self.node(Allowed::Block),
            }?);
        }
        Ok(NodeKind::Sequence(items))
    }

    pub(super) fn block_mapping(&mut self) -> Result<NodeKind, ReadError> {
        self.scanner.next()?;
        let mut entries = Vec::new();
        loop {
            match self.scanner.peek()? {
                TokenKind::Key => {
                    self.scanner.next()?;
                    let key = self.block_mapping_node()?;
                    let value = if self.scanner.peek()? == &TokenKind::Value {
                        self.scanner.next()?;
                        self.block_mapping_node()?
                    } else {
                        self.nothing()?
                    };
                    entries.push((key, value));
                }
                TokenKind::BlockEnd => {
                    self.scanner.next()?;
                    return Ok(NodeKind::Mapping(entries));
                }
                _ => return Err(self.error_here(Problem::ExpectedKey)),
            }
        }
    }

    fn block_mapping_node(&mut self) -> Result<NodeId, ReadError> {
        match self.scanner.peek()? {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => self.nothing(),
            _ => self.node(Allowed::BlockOrDashes),
        }
    }
}
