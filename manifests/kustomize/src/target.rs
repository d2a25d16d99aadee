//! Which objects a patch is for.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::text;
use crate::limits::{MAX_COMPILED_PATTERN_BYTES, MAX_PATTERN_BYTES};
use crate::resources::Resource;
use crate::selector::{Selector, SelectorError};

/// Which objects a patch is for: all fields that are set must match. The first five are regular expressions (RE2) that
/// must match the whole text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Target {
    /// API group; the core group is the empty text, which no pattern but the unset one stands for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// API version within the group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Name: the one that the object has or the one that it had at first.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Namespace: the one that the object has or had at first; `default` for an object that names none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Label selector, for example `app in (a,b),!draft`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label_selector: String,
    /// The same over annotations.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub annotation_selector: String,
}

/// Why a target cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Not a regular expression.
    #[error("`{field}` of the target is no regular expression: {source}")]
    Pattern {
        /// Field of the target.
        field: &'static str,
        /// What is wrong.
        source: regex::Error,
    },
    /// A regular expression that is too long.
    #[error("`{field}` of the target has {bytes} bytes, and at most {MAX_PATTERN_BYTES} are allowed")]
    PatternTooLong {
        /// Field of the target.
        field: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// Not a selector.
    #[error("`{field}` of the target is no selector: {source}")]
    Selector {
        /// Field of the target.
        field: &'static str,
        /// What is wrong.
        source: SelectorError,
    },
}

impl fmt::Display for Target {
    /// `kind=Deployment,name=source-controller`; `all objects` when nothing is set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("namespace", &self.namespace),
            ("labelSelector", &self.label_selector),
            ("annotationSelector", &self.annotation_selector),
        ];
        let set: Vec<String> = fields
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(field, value)| format!("{field}={value}"))
            .collect();
        f.write_str(if set.is_empty() { "all objects" } else { "" })?;
        f.write_str(&set.join(","))
    }
}

/// A target that is ready to match.
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Selector,
    annotations: Selector,
}

impl Matcher {
    pub(crate) fn new(target: &Target) -> Result<Self, TargetError> {
        let selector = |field, text: &str| {
            Selector::read(text).map_err(|source| TargetError::Selector { field, source })
        };
        Ok(Self {
            group: pattern("group", &target.group)?,
            version: pattern("version", &target.version)?,
            kind: pattern("kind", &target.kind)?,
            name: pattern("name", &target.name)?,
            namespace: pattern("namespace", &target.namespace)?,
            labels: selector("labelSelector", &target.label_selector)?,
            annotations: selector("annotationSelector", &target.annotation_selector)?,
        })
    }

    pub(crate) fn matches(&self, resource: &Resource) -> bool {
        // Most objects are of another kind, which is seen without making an id.
        if !self.kind.matches(text(resource.value().get("kind"))) {
            return false;
        }
        let (now, first) = (resource.id(), resource.original_id());
        let metadata = |field: &str| {
            resource.value().pointer("/metadata").and_then(|m| m.get(field)).and_then(Value::as_object)
        };
        self.group.matches(&now.group)
            && self.version.matches(&now.version)
            && (self.name.matches(&first.name) || self.name.matches(&now.name))
            && (self.namespace.matches(first.effective_namespace())
                || self.namespace.matches(now.effective_namespace()))
            && self.labels.matches(metadata("labels"))
            && self.annotations.matches(metadata("annotations"))
    }
}

/// What a field of the target asks for.
#[derive(Debug)]
enum Pattern {
    Anything,
    /// A text without special characters is compared: compiling it would cost more than all matches.
    Exactly(String),
    Expression(Regex),
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Exactly(wanted) => wanted == text,
            Self::Expression(expression) => expression.is_match(text),
        }
    }
}

fn pattern(field: &'static str, text: &str) -> Result<Pattern, TargetError> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '/');
    if text.is_empty() {
        return Ok(Pattern::Anything);
    }
    if text.len() > MAX_PATTERN_BYTES {
        return Err(TargetError::PatternTooLong { field, bytes: text.len() });
    }
    if text.chars().all(is_plain) {
        return Ok(Pattern::Exactly(text.to_owned()));
    }
    RegexBuilder::new(&format!("^(?:{text})$"))
        .size_limit(MAX_COMPILED_PATTERN_BYTES)
        .build()
        .map(Pattern::Expression)
        .map_err(|source| TargetError::Pattern { field, source })
}
