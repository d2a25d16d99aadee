//! Nodes to JSON: aliases, merge keys, keys that are no texts.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::MAX_DEPTH;
use crate::compose::{CORE_TAG_PREFIX, Composed, Node, NodeId, NodeKind, Scalar, first_document};
use crate::control::first_control_character;
use crate::cursor::Mark;
use crate::error::{Problem, ReadError};
use crate::number::{self, Number};
use crate::resolve::{Resolved, resolve};

/// How many bytes of text the aliases of a document may repeat, because each use is a copy: 16 MiB, ten times
/// what an object of Kubernetes can hold.
pub const MAX_ALIAS_TEXT_BYTES: usize = 16 * 1024 * 1024;

/// Reads the first document of a text as Go's `yaml.YAMLToJSON` does; what follows it is not looked at. A text
/// without document is null, and the last of equal keys wins.
///
/// # Errors
///
/// If the document is not YAML 1.1, has no JSON form (a null as key, infinity), or exceeds a bound.
pub fn from_str(text: &str) -> Result<Value, ReadError> {
    read(text, EqualKeys::LastWins)
}

/// Reads as [`from_str`] does, and refuses equal keys, as Go's `yaml.YAMLToJSONStrict` does. A key that a merge
/// key `<<` brought in counts, too.
///
/// # Errors
///
/// As [`from_str`], and if a mapping has a key twice.
pub fn from_str_strict(text: &str) -> Result<Value, ReadError> {
    read(text, EqualKeys::Refused)
}

fn read(text: &str, equal_keys: EqualKeys) -> Result<Value, ReadError> {
    let control = first_control_character(text);
    let composed = match first_document(text) {
        Ok(composed) => composed,
        Err(error) => return Err(earlier(error, control.map(|control| control.error(text)))),
    };
    if let Some(control) = control
        && control.is_within(composed.read_bytes)
    {
        return Err(control.error(text));
    }
    let Some(root) = composed.root else { return Ok(Value::Null) };
    Decoder::new(&composed, equal_keys).value(root)
}

fn earlier(error: ReadError, other: Option<ReadError>) -> ReadError {
    other.filter(|other| (other.line, other.column) <= (error.line, error.column)).unwrap_or(error)
}

/// What to do with a key that a mapping has already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EqualKeys {
    LastWins,
    Refused,
}

/// A mapping in the making.
#[derive(Default)]
struct Object {
    entries: Map<String, Value>,
    /// Filled only when equal keys are refused.
    keys: HashSet<Key>,
}

/// A key before it becomes a text: `1` and `"1"` are different keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Bool(bool),
    Integer(i64),
    /// A float, as its bits.
    Float(u64),
}

impl Key {
    /// What equal keys have in common: zero has two forms.
    fn identity(&self) -> Self {
        match self {
            Self::Float(bits) => Self::Float((f64::from_bits(*bits) + 0.0).to_bits()),
            key => key.clone(),
        }
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Bool(value) => value.to_string(),
            Self::Integer(integer) => integer.to_string(),
            Self::Float(bits) => number::print_single(f64::from_bits(bits)),
        }
    }
}

/// `goyaml.v2` lets aliases make 99% of up to so many values...
const MANY_VALUES: u32 = 400_000;
/// ... and 10% of more than so many, and a share between the two in between.
const TOO_MANY_VALUES: u32 = 4_000_000;
/// It does not look at fewer values than this, or fewer aliased ones than a tenth of it.
const FEW_VALUES: u32 = 1000;

struct Decoder<'a> {
    document: &'a Composed,
    equal_keys: EqualKeys,
    open_aliases: HashSet<NodeId>,
    depth: usize,
    value_count: u32,
    aliased_count: u32,
    aliased_bytes: usize,
}

impl<'a> Decoder<'a> {
    fn new(document: &'a Composed, equal_keys: EqualKeys) -> Self {
        Self {
            document,
            equal_keys,
            open_aliases: HashSet::new(),
            depth: 0,
            // The document itself counts.
            value_count: 1,
            aliased_count: 0,
            aliased_bytes: 0,
        }
    }

    fn value(&mut self, id: NodeId) -> Result<Value, ReadError> {
        let Some(node) = self.visit(id)? else { return Ok(Value::Null) };
        match &node.kind {
            NodeKind::Scalar(scalar) => self.scalar(node.mark, scalar),
            NodeKind::Sequence(items) => self.nested(node.mark, |decoder| {
                items.iter().map(|item| decoder.value(*item)).collect::<Result<_, _>>().map(Value::Array)
            }),
            NodeKind::Mapping(entries) => {
                let mut object = Object::default();
                self.nested(node.mark, |decoder| decoder.fill(&mut object, entries))?;
                Ok(Value::Object(object.entries))
            }
            NodeKind::Alias { name, target } => {
                self.aliased(id, node.mark, name, |decoder| decoder.value(*target))
            }
        }
    }

    fn fill(&mut self, object: &mut Object, entries: &[(NodeId, NodeId)]) -> Result<(), ReadError> {
        for &(key_id, value_id) in entries {
            if self.is_merge(key_id) {
                self.merge(object, value_id)?;
                continue;
            }
            let key = self.key(key_id)?;
            let value = self.value(value_id)?;
            if self.equal_keys == EqualKeys::Refused && !object.keys.insert(key.identity()) {
                return Err(self.error(key_id, Problem::DuplicateKey { key: key.into_text() }));
            }
            object.entries.insert(key.into_text(), value);
        }
        Ok(())
    }

    fn is_merge(&self, id: NodeId) -> bool {
        let has_merge_tag = |tag: &Option<String>| {
            tag.as_deref().and_then(|tag| tag.strip_prefix(CORE_TAG_PREFIX)) == Some("merge")
        };
        match self.document.node(id).map(|node| &node.kind) {
            Some(NodeKind::Scalar(scalar)) => {
                scalar.value == "<<" && (scalar.is_implicit || has_merge_tag(&scalar.tag))
            }
            _ => false,
        }
    }

    /// Merges a mapping, or several: the first of them wins, so it comes last.
    fn merge(&mut self, object: &mut Object, id: NodeId) -> Result<(), ReadError> {
        match self.document.node(id).map(|node| &node.kind) {
            Some(NodeKind::Sequence(items)) => {
                items.iter().rev().try_for_each(|item| self.merge_mapping(object, *item))
            }
            _ => self.merge_mapping(object, id),
        }
    }

    fn merge_mapping(&mut self, object: &mut Object, id: NodeId) -> Result<(), ReadError> {
        let Some(node) = self.visit(id)? else { return Ok(()) };
        match &node.kind {
            NodeKind::Mapping(entries) => self.nested(node.mark, |decoder| decoder.fill(object, entries)),
            NodeKind::Alias { name, target } => {
                self.aliased(id, node.mark, name, |decoder| decoder.merge_mapping(object, *target))
            }
            _ => Err(ReadError::new(node.mark, Problem::MergeNeedsMapping)),
        }
    }

    fn key(&mut self, id: NodeId) -> Result<Key, ReadError> {
        let Some(node) = self.visit(id)? else { return Ok(Key::Text(String::new())) };
        let unsupported = |kind| Err(ReadError::new(node.mark, Problem::UnsupportedKey { kind }));
        match &node.kind {
            NodeKind::Scalar(scalar) => match self.resolve(node.mark, scalar)? {
                Resolved::Text(text) => Ok(Key::Text(text)),
                Resolved::Bool(value) => Ok(Key::Bool(value)),
                Resolved::Number(Number::Integer(integer)) => Ok(Key::Integer(integer)),
                Resolved::Number(Number::Float(float)) => Ok(Key::Float(float.to_bits())),
                Resolved::Number(Number::Unsigned(_)) => unsupported("number this large"),
                Resolved::Null => unsupported("null"),
            },
            NodeKind::Sequence(_) => unsupported("list"),
            NodeKind::Mapping(_) => unsupported("mapping"),
            NodeKind::Alias { name, target } => {
                self.aliased(id, node.mark, name, |decoder| decoder.key(*target))
            }
        }
    }

    fn scalar(&mut self, mark: Mark, scalar: &Scalar) -> Result<Value, ReadError> {
        Ok(match self.resolve(mark, scalar)? {
            Resolved::Null => Value::Null,
            Resolved::Bool(value) => Value::Bool(value),
            Resolved::Text(text) => Value::String(text),
            Resolved::Number(Number::Integer(integer)) => integer.into(),
            Resolved::Number(Number::Unsigned(integer)) => integer.into(),
            Resolved::Number(Number::Float(float)) => {
                json_float(float).map_err(|problem| ReadError::new(mark, problem))?
            }
        })
    }

    fn resolve(&mut self, mark: Mark, scalar: &Scalar) -> Result<Resolved, ReadError> {
        if !self.open_aliases.is_empty() {
            self.aliased_bytes += scalar.value.len();
            if self.aliased_bytes > MAX_ALIAS_TEXT_BYTES {
                return Err(ReadError::new(mark, Problem::ExcessiveAliasing));
            }
        }
        resolve(scalar).map_err(|problem| ReadError::new(mark, problem))
    }

    /// Looks a node up and counts it, as `goyaml.v2` does.
    fn visit(&mut self, id: NodeId) -> Result<Option<&'a Node>, ReadError> {
        self.value_count = self.value_count.saturating_add(1);
        if !self.open_aliases.is_empty() {
            self.aliased_count = self.aliased_count.saturating_add(1);
        }
        let is_looked_at = self.aliased_count > FEW_VALUES / 10 && self.value_count > FEW_VALUES;
        let share = f64::from(self.aliased_count) / f64::from(self.value_count);
        if is_looked_at && share > allowed_alias_share(self.value_count) {
            return Err(self.error(id, Problem::ExcessiveAliasing));
        }
        Ok(self.document.node(id))
    }

    fn nested<T>(
        &mut self,
        mark: Mark,
        content: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if self.depth == MAX_DEPTH {
            return Err(ReadError::new(mark, Problem::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let result = content(self);
        self.depth -= 1;
        result
    }

    fn aliased<T>(
        &mut self,
        id: NodeId,
        mark: Mark,
        name: &str,
        content: impl FnOnce(&mut Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        if !self.open_aliases.insert(id) {
            return Err(ReadError::new(mark, Problem::RecursiveAnchor { name: name.to_owned() }));
        }
        let result = content(self);
        self.open_aliases.remove(&id);
        result
    }

    fn error(&self, id: NodeId, problem: Problem) -> ReadError {
        ReadError::new(self.document.node(id).map(|node| node.mark).unwrap_or_default(), problem)
    }
}

fn allowed_alias_share(value_count: u32) -> f64 {
    if value_count <= MANY_VALUES {
        0.99
    } else if value_count >= TOO_MANY_VALUES {
        0.10
    } else {
        0.99 - 0.89 * (f64::from(value_count - MANY_VALUES) / f64::from(TOO_MANY_VALUES - MANY_VALUES))
    }
}

/// Go prints floats below this one without exponent, and what is printed without fraction is an integer.
const FIRST_FLOAT_WITH_EXPONENT: f64 = 1e21;

/// The JSON number that Go's text of the float reads as.
fn json_float(float: f64) -> Result<Value, Problem> {
    if float.is_nan() {
        return Err(Problem::NotFinite { value: ".nan" });
    }
    if float.is_infinite() {
        return Err(Problem::NotFinite { value: if float > 0.0 { ".inf" } else { "-.inf" } });
    }
    if float.abs() < FIRST_FLOAT_WITH_EXPONENT && (float != 0.0 || float.is_sign_positive()) {
        let text = float.to_string();
        if let Ok(integer) = text.parse::<i64>() {
            return Ok(integer.into());
        }
        if let Ok(integer) = text.parse::<u64>() {
            return Ok(integer.into());
        }
    }
    Ok(float.into())
}
