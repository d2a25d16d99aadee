//! The words of YAML.

use crate::cursor::Mark;

/// One word and where it starts.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: Mark,
}

/// What a word is. The block tokens have no characters of their own: indentation makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenKind {
    StreamEnd,
    VersionDirective { major: u8, minor: u8 },
    TagDirective { handle: String, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { value: String, style: ScalarStyle },
}

/// Only plain scalars are resolved to numbers and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarStyle {
    Plain,
    Quoted,
}
