//! What kustomize does to a list of objects: patches, namespace, name suffix, labels, annotations, images.
//!
//! Objects are [`serde_json::Value`]s and nothing is read from disk or network. Answers are those of kustomize 0.21, down
//! to the order of merged lists.
//!
//! # Where the answers differ from kustomize's
//!
//! Refused, because kustomize would write something that nobody meant:
//! - `$setElementOrder`, `$deleteFromPrimitiveList`, `$retainKeys`, an unknown `$patch`, and `$patch` in a list without
//!   merge key: they would stay in the object;
//! - an element without merge key, and an element twice with a directive: others would be lost;
//! - a path without leading slash: it would mean another place;
//! - operations that are wrong in themselves, even if the target matches nothing.
//!
//! Done, although kustomize does not:
//! - JSON 6902 operations in YAML's flow style are read;
//! - null deletes labels and annotations with a target, too, and `$patch: delete` any port.
//!
//! Not looked at: the annotation `config.kubernetes.io/local-config`, and schemas in comments. Strategic merge patches are
//! read as all other YAML of Kubernetes is, so that a bare `yes` is true; kustomize takes it for a text there.
//!
//! ```
//! use manifests_kustomize::{Patch, Resources, Target};
//! use serde_json::json;
//!
//! let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "flux-system"}});
//! let mut resources = Resources::new(vec![namespace])?;
//! let patch = Patch {
//!     patch: r#"[{"op": "add", "path": "/metadata/labels", "value": {"team": "a"}}]"#.to_owned(),
//!     target: Some(Target { kind: "Namespace".to_owned(), ..Target::default() }),
//! };
//! let warnings = resources.patch(&[patch])?;
//! assert!(warnings.is_empty());
//! assert_eq!(resources.into_objects()[0]["metadata"]["labels"]["team"], "a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod directive;
mod field_path;
mod field_spec_table;
mod id;
mod images;
pub mod limits;
mod measure;
mod merge;
mod merge_list;
mod operation;
mod patch;
mod patch_apply;
mod patch_text;
mod pointer;
mod references;
mod resources;
mod schema;
mod schema_table;
mod scope_table;
mod selector;
mod target;
mod transform;

pub use directive::DirectiveError;
pub use id::Id;
pub use images::Image;
pub use merge::MergeError;
pub use operation::{OperationError, OperationReadError};
pub use patch::{Patch, PatchError, PatchFailure, PatchFinding, PatchPosition, PatchWarning};
pub use patch_text::PatchTextError;
pub use pointer::PointerError;
pub use resources::{Resource, ResourceError, Resources};
pub use selector::SelectorError;
pub use target::{Target, TargetError};
pub use transform::{Reach, TransformError};
