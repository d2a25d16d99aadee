//! Null means absent: the API server drops nulls before it fills in defaults, and files are read in the same way.

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

/// Reads null as the default of the field.
pub(crate) fn or<'de, D, T>(deserializer: D, default: impl FnOnce() -> T) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(default))
}
