//! Every bound of this crate, with its reason.

/// Longest text of one patch, in bytes. A `FluxInstance` is at most 1.5 MiB in etcd; real patches are below 10 KiB.
pub const MAX_PATCH_BYTES: usize = 256 * 1024;

/// Most patches in one list.
pub const MAX_PATCHES: usize = 1_000;

/// Most operations in one JSON 6902 patch; kube-apiserver takes 10 000, and nobody writes 100 by hand.
pub const MAX_OPERATIONS: usize = 1_000;

/// Most bytes that the `copy` operations of one patch may add to one object, or sixteen of them double it 65 536 times.
pub const MAX_COPIED_BYTES: usize = 1024 * 1024;

/// Largest object after a patch, in bytes of JSON: twice what kube-apiserver stores.
pub const MAX_OBJECT_BYTES: usize = 3 * 1024 * 1024;

/// Deepest nesting of an object; `serde_json` reads 128, and recursion over 128 levels fits every stack.
pub const MAX_DEPTH: usize = 128;

/// Most elements of a list that is merged by key, because merging compares each with each.
pub const MAX_MERGED_ELEMENTS: usize = 1_024;

/// Longest pattern of a target, in bytes; a Kubernetes name has 253.
pub const MAX_PATTERN_BYTES: usize = 1_024;

/// Largest compiled pattern, in bytes, or `(a{1000}){1000}` takes gigabytes.
pub const MAX_COMPILED_PATTERN_BYTES: usize = 1024 * 1024;
