//! Tokens to nodes, by libyaml's grammar.
//!
//! The functions call each other as deep as collections nest, which is bounded by [`MAX_DEPTH`].

mod block;
mod flow;

use std::collections::HashMap;

use crate::MAX_DEPTH;
use crate::cursor::Mark;
use crate::error::{Problem, ReadError};
use crate::scanner::Scanner;
use crate::token::{ScalarStyle, Token, TokenKind};

/// What `!!` stands for unless a directive says otherwise.
pub(crate) const CORE_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The place of a node in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(usize);

/// One value of a document.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) mark: Mark,
    pub(crate) kind: NodeKind,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    /// A text, to be resolved if it is plain.
    Scalar(Scalar),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    Alias {
        name: String,
        target: NodeId,
    },
}

#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) value: String,
    /// The tag in its long form, if there is one.
    pub(crate) tag: Option<String>,
    /// Whether the scalar is plain and without tag, or has the tag `!`.
    pub(crate) is_implicit: bool,
}

/// The first document of a text.
#[derive(Debug)]
pub(crate) struct Composed {
    pub(crate) nodes: Vec<Node>,
    /// None if the text has no document.
    pub(crate) root: Option<NodeId>,
    /// How far the text was read to find the end of the document, in bytes.
    pub(crate) read_bytes: usize,
}

impl Composed {
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0)
    }
}

/// Reads the first document and looks no further than the token behind it.
pub(crate) fn first_document(text: &str) -> Result<Composed, ReadError> {
    let mut composer = Composer {
        scanner: Scanner::new(text),
        nodes: Vec::new(),
        anchors: HashMap::new(),
        tag_prefixes: HashMap::new(),
        depth: 0,
    };
    let root = composer.document()?;
    Ok(Composed { nodes: composer.nodes, root, read_bytes: composer.scanner.offset() })
}

/// Which nodes the grammar takes at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    /// Within brackets.
    Flow,
    Block,
    /// In a mapping, where the dashes of a list need no indentation.
    BlockOrDashes,
}

/// What stands in front of a value.
struct Properties {
    mark: Mark,
    anchor: Option<String>,
    tag: Option<String>,
}

struct Composer<'a> {
    scanner: Scanner<'a>,
    nodes: Vec<Node>,
    anchors: HashMap<String, NodeId>,
    tag_prefixes: HashMap<String, String>,
    depth: usize,
}

impl Composer<'_> {
    fn document(&mut self) -> Result<Option<NodeId>, ReadError> {
        let root = match self.scanner.peek()? {
            TokenKind::StreamEnd => return Ok(None),
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart => self.explicit_document()?,
            _ => {
                self.directives()?;
                self.node(Allowed::Block)?
            }
        };
        self.scanner.peek()?;
        Ok(Some(root))
    }

    fn explicit_document(&mut self) -> Result<NodeId, ReadError> {
        self.directives()?;
        if self.scanner.peek()? != &TokenKind::DocumentStart {
            return Err(self.error_here(Problem::ExpectedDocumentStart));
        }
        self.scanner.next()?;
        match self.scanner.peek()? {
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => self.nothing(),
            _ => self.node(Allowed::Block),
        }
    }

    fn directives(&mut self) -> Result<(), ReadError> {
        let mut has_version = false;
        while matches!(
            self.scanner.peek()?,
            TokenKind::VersionDirective { .. } | TokenKind::TagDirective { .. }
        ) {
            let Token { kind, start } = self.scanner.next()?;
            match kind {
                TokenKind::VersionDirective { .. } if has_version => {
                    return Err(ReadError::new(start, Problem::DuplicateVersion));
                }
                TokenKind::VersionDirective { major: 1, minor: 1 } => has_version = true,
                TokenKind::VersionDirective { major, minor } => {
                    return Err(ReadError::new(start, Problem::UnsupportedVersion { major, minor }));
                }
                TokenKind::TagDirective { handle, prefix } => {
                    if self.tag_prefixes.contains_key(&handle) {
                        return Err(ReadError::new(start, Problem::DuplicateTagHandle { handle }));
                    }
                    self.tag_prefixes.insert(handle, prefix);
                }
                _ => {}
            }
        }
        for (handle, prefix) in [("!", "!"), ("!!", CORE_TAG_PREFIX)] {
            self.tag_prefixes.entry(handle.to_owned()).or_insert_with(|| prefix.to_owned());
        }
        Ok(())
    }

    fn node(&mut self, allowed: Allowed) -> Result<NodeId, ReadError> {
        if let TokenKind::Alias(name) = self.scanner.peek()? {
            let name = name.clone();
            return self.alias(name);
        }
        let properties = self.properties()?;
        match self.scanner.peek()? {
            TokenKind::Scalar { .. } => self.scalar(properties),
            TokenKind::BlockEntry if allowed == Allowed::BlockOrDashes => {
                self.collection(properties, Self::dashes)
            }
            TokenKind::FlowSequenceStart => self.collection(properties, Self::flow_sequence),
            TokenKind::FlowMappingStart => self.collection(properties, Self::flow_mapping),
            TokenKind::BlockSequenceStart if allowed != Allowed::Flow => {
                self.collection(properties, Self::block_sequence)
            }
            TokenKind::BlockMappingStart if allowed != Allowed::Flow => {
                self.collection(properties, Self::block_mapping)
            }
            _ if properties.anchor.is_some() || properties.tag.is_some() => {
                let is_implicit = properties.tag.is_none();
                Ok(self.add_scalar(properties, String::new(), is_implicit))
            }
            _ => Err(self.error_here(Problem::ExpectedContent)),
        }
    }

    fn alias(&mut self, name: String) -> Result<NodeId, ReadError> {
        let mark = self.scanner.next()?.start;
        match self.anchors.get(&name) {
            Some(&target) => Ok(self.add(Node { mark, kind: NodeKind::Alias { name, target } })),
            None => Err(ReadError::new(mark, Problem::UnknownAnchor { name })),
        }
    }

    /// Takes an anchor and a tag, in any order.
    fn properties(&mut self) -> Result<Properties, ReadError> {
        let mut properties = Properties { mark: self.scanner.peek_mark()?, anchor: None, tag: None };
        loop {
            match self.scanner.peek()? {
                TokenKind::Anchor(_) if properties.anchor.is_none() => {
                    if let TokenKind::Anchor(name) = self.scanner.next()?.kind {
                        properties.anchor = Some(name);
                    }
                }
                TokenKind::Tag { .. } if properties.tag.is_none() => {
                    let Token { kind, start } = self.scanner.next()?;
                    if let TokenKind::Tag { handle, suffix } = kind {
                        properties.tag = Some(self.long_tag(start, handle, suffix)?);
                    }
                }
                _ => return Ok(properties),
            }
        }
    }

    fn long_tag(&self, mark: Mark, handle: String, suffix: String) -> Result<String, ReadError> {
        if handle.is_empty() {
            return Ok(suffix);
        }
        match self.tag_prefixes.get(&handle) {
            Some(prefix) => Ok(format!("{prefix}{suffix}")),
            None => Err(ReadError::new(mark, Problem::UndefinedTagHandle { handle })),
        }
    }

    fn scalar(&mut self, properties: Properties) -> Result<NodeId, ReadError> {
        let TokenKind::Scalar { value, style } = self.scanner.next()?.kind else {
            return Err(self.error_here(Problem::ExpectedContent));
        };
        let is_implicit = match properties.tag.as_deref() {
            None => style == ScalarStyle::Plain,
            Some(tag) => tag == "!",
        };
        Ok(self.add_scalar(properties, value, is_implicit))
    }

    fn add_scalar(&mut self, properties: Properties, value: String, is_implicit: bool) -> NodeId {
        let Properties { mark, anchor, tag } = properties;
        let id = self.add(Node { mark, kind: NodeKind::Scalar(Scalar { value, tag, is_implicit }) });
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
        id
    }

    /// Makes the node first, because the anchor of a collection is known within it.
    fn collection(
        &mut self,
        properties: Properties,
        content: fn(&mut Self) -> Result<NodeKind, ReadError>,
    ) -> Result<NodeId, ReadError> {
        if self.depth == MAX_DEPTH {
            return Err(ReadError::new(properties.mark, Problem::TooDeep { limit: MAX_DEPTH }));
        }
        let id = self.add(Node { mark: properties.mark, kind: NodeKind::Sequence(Vec::new()) });
        if let Some(anchor) = properties.anchor {
            self.anchors.insert(anchor, id);
        }
        self.depth += 1;
        let kind = content(self)?;
        self.depth -= 1;
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.kind = kind;
        }
        Ok(id)
    }

    /// A value that is not written down.
    fn nothing(&mut self) -> Result<NodeId, ReadError> {
        let mark = self.scanner.peek_mark()?;
        Ok(self.add_scalar(Properties { mark, anchor: None, tag: None }, String::new(), true))
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    fn error_here(&mut self, problem: Problem) -> ReadError {
        match self.scanner.peek_mark() {
            Ok(mark) => ReadError::new(mark, problem),
            Err(error) => error,
        }
    }
}
