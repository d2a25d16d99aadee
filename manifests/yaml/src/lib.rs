//! YAML as Go's `sigs.k8s.io/yaml` v1.6.0 reads and writes it.
//!
//! Kubernetes tools agree on one dialect: YAML 1.1 by libyaml's grammar, scalars resolved by `goyaml.v2`, the
//! result turned into JSON. `on` is true there, `0777` is 511, `1.0` is the integer 1, merge keys work and the
//! last of two equal keys wins. Crates for YAML 1.2 differ in grammar, in scalars and in layout, so this crate
//! has its own scanner, parser, resolver and writer. They follow the rules of libyaml (see `LICENSE.libyaml`),
//! which Go's library is a port of; vectors made by the Go library keep them honest.
//!
//! - [`from_str`] reads the first document of a text, [`from_str_strict`] also refuses equal keys.
//! - [`documents`] reads a stream of documents, split where Kubernetes splits it.
//! - [`to_string`] prints a value in Go's layout.
//!
//! ```
//! let value = manifests_yaml::from_str("on: [0777, 1_000, n, 1.0, 2001-12-14]")?;
//! assert_eq!(value, serde_json::json!({"true": [511, 1000, false, 1, "2001-12-14"]}));
//! assert_eq!(manifests_yaml::to_string(&value), "\"true\":\n- 511\n- 1000\n- false\n- 1\n- \"2001-12-14\"\n");
//! # Ok::<(), manifests_yaml::ReadError>(())
//! ```
//!
//! # Where the answers differ from Go's
//!
//! Bounds, because the input is not trusted:
//! - collections nest at most [`MAX_DEPTH`] deep (Go: 10,000), counted after aliases are replaced;
//! - text that aliases repeat is limited to [`MAX_ALIAS_TEXT_BYTES`] (Go shares the memory instead).
//!
//! Corner cases:
//! - a key that is no JSON key (`null`, an integer above `i64`) and a value that is no JSON value (`.inf`,
//!   `.nan`) are refused even if an equal key replaces them later;
//! - two keys with one JSON name (`1` and `"1"`): the last one wins, where Go picks one at random;
//! - a byte order mark is skipped at the start of the text only; Go's reader looks for it at the start of its
//!   buffer, and may swallow other characters for it;
//! - [`to_string`] takes any value; Go goes through its own reader and loses U+0085 in a text, and fails on
//!   other control characters above U+007E, on U+FFFE and U+FFFF, and on keys of more than 1024 characters;
//! - keys whose order is a circle (`x10`, `x1y`, `x9`) are printed in one order, where Go's is random.
//!
//! As Go does, [`to_string`] prints a key `<<` without quotes, so that it reads back as a merge key.

mod compose;
mod control;
mod cursor;
mod decode;
mod error;
mod number;
mod order;
mod resolve;
mod scanner;
mod stream;
mod timestamp;
mod token;
mod write;

pub use decode::{MAX_ALIAS_TEXT_BYTES, from_str, from_str_strict};
pub use error::{Problem, ReadError};
pub use stream::{Document, documents};
pub use write::to_string;

/// How deep collections may nest, in levels; the JSON reader of this workspace has the same bound.
pub const MAX_DEPTH: usize = 128;
