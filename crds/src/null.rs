//! Null means absent: the API server drops nulls before it fills in defaults, and files are read in the same way.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// Reads null as the default of the type.
pub(crate) fn as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    or(deserializer, T::default)
}

/// Reads null as true.
pub(crate) fn as_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    or(deserializer, || true)
}

/// Reads texts by name, without the names whose text is null.
pub(crate) fn without_null_texts<'de, D>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error>
where
    D: Deserializer<'de>,
{
    let texts: Option<BTreeMap<String, Option<String>>> = Option::deserialize(deserializer)?;
    Ok(texts.map(|texts| texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()))
}

/// Reads null as the default of the field.
pub(crate) fn or<'de, D, T>(deserializer: D, default: impl FnOnce() -> T) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(default))
}
