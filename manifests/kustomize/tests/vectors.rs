//! Every answer that kustomize itself gave (`e2e/oracles/kustomize`), but for the exceptions named here.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeMap;

use manifests_kustomize::{
    Image, MergeError, OperationError, OperationReadError, Patch, PatchError, PatchFailure, PatchTextError,
    Reach, ResourceError, Resources, TargetError, TransformError,
};
use serde::Deserialize;
use serde_json::Value;

/// Where this crate answers otherwise, and why.
const EXCEPTIONS: [(&str, &str); 13] = [
    ("a path without leading slash", "kustomize writes to the root, where nobody wants it"),
    ("operations as flow YAML fail", "the text says what it means, so it is read"),
    ("a container without name in the patch", "kustomize forgets the other containers"),
    (
        "env with replace is added to a container without",
        "kustomize leaves `$patch` in the object and loses the list",
    ),
    ("a directive in a list of a custom resource", "kustomize leaves `$patch` in the object"),
    ("an unknown directive on an added map", "kustomize leaves `$patch` in the object"),
    ("setElementOrder stays in the object", "kustomize leaves the directive in the object"),
    ("deleteFromPrimitiveList stays in the object", "kustomize leaves the directive in the object"),
    ("retainKeys stays in the object", "kustomize leaves the directive in the object"),
    ("a port is deleted", "kustomize forgets the deletion when one of several ports has no protocol"),
    ("a label is deleted by null", "kustomize sets the text `null`, but only with a target"),
    ("all labels are deleted by null", "kustomize forgets the deletion, but only with a target"),
    ("an annotation that is null in the object", "kustomize sets the text `null`"),
];

#[derive(Deserialize)]
struct VectorFile {
    objects: Option<Vec<Value>>,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    objects: Option<Vec<Value>>,
    base: Option<Base>,
    #[serde(flatten)]
    changes: Changes,
    #[serde(default)]
    result: Vec<Value>,
    error: Option<Failure>,
}

/// Objects with changes of their own, which come in addition.
#[derive(Deserialize)]
struct Base {
    objects: Vec<Value>,
    #[serde(flatten)]
    changes: Changes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Changes {
    patches: Vec<Patch>,
    namespace: String,
    name_suffix: String,
    labels: Vec<Labels>,
    common_annotations: BTreeMap<String, String>,
    images: Vec<Image>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Labels {
    pairs: BTreeMap<String, String>,
    #[serde(default)]
    include_templates: bool,
}

#[derive(Deserialize)]
struct Failure {
    kind: String,
}

/// What came out: objects, or the kind of failure with its message.
type Outcome = Result<Vec<Value>, (&'static str, String)>;

fn build(vector: &Vector, objects: &[Value]) -> Outcome {
    let made = |objects: &[Value]| Resources::new(objects.to_vec()).map_err(|e| fail(resource_kind(&e), &e));
    let mut resources = made(objects)?;
    if let Some(base) = &vector.base {
        let mut inner = made(&base.objects)?;
        change(&mut inner, &base.changes)?;
        resources.append(inner).map_err(|e| fail(resource_kind(&e), &e))?;
    }
    change(&mut resources, &vector.changes)?;
    resources.fix_references().map_err(|e| fail(transform_kind(&e), &e))?;
    Ok(resources.into_objects())
}

fn fail(kind: &'static str, error: &dyn std::error::Error) -> (&'static str, String) {
    (kind, error.to_string())
}

/// Applies changes in kustomize's order.
fn change(resources: &mut Resources, changes: &Changes) -> Result<(), (&'static str, String)> {
    let checked = |result: Result<(), TransformError>| result.map_err(|e| fail(transform_kind(&e), &e));
    resources.patch(&changes.patches).map_err(|e| fail(patch_kind(&e), &e))?;
    checked(resources.namespace(&changes.namespace))?;
    checked(resources.name_suffix(&changes.name_suffix))?;
    for labels in &changes.labels {
        let reach = if labels.include_templates { Reach::Templates } else { Reach::Metadata };
        checked(resources.labels(&labels.pairs, reach))?;
    }
    checked(resources.annotations(&changes.common_annotations, Reach::Templates))?;
    checked(resources.images(&changes.images))
}

fn resource_kind(error: &ResourceError) -> &'static str {
    match error {
        ResourceError::Duplicate { .. } => "duplicate",
        _ => "identity",
    }
}

fn transform_kind(error: &TransformError) -> &'static str {
    match error {
        TransformError::WrongType { .. } => "shape",
        TransformError::Duplicate { .. } => "duplicate",
        TransformError::AmbiguousReference { .. } => "ambiguous-reference",
        _ => "regex",
    }
}

fn patch_kind(error: &PatchError) -> &'static str {
    match &*error.cause {
        PatchFailure::Text(PatchTextError::Operation {
            source: OperationReadError::NotAMap { .. }, ..
        }) => "not-a-patch",
        PatchFailure::Text(PatchTextError::Operation { .. }) => "operation",
        PatchFailure::Text(PatchTextError::Directive { .. }) => "directive",
        PatchFailure::Text(_) => "not-a-patch",
        PatchFailure::Target(TargetError::Selector { .. }) => "selector",
        PatchFailure::Target(_) => "regex",
        PatchFailure::NoTarget => "no-target",
        PatchFailure::SeveralDocuments { .. } => "several-documents",
        PatchFailure::NoObject { .. } | PatchFailure::SeveralObjects { .. } => "no-match",
        PatchFailure::Merge { source: MergeError::Shape { .. }, .. } => "shape",
        PatchFailure::Merge { .. } => "merge",
        PatchFailure::Operation { source: OperationError::TestFailed { .. }, .. } => "test",
        PatchFailure::Operation { .. } => "operation",
        PatchFailure::IdentityLost { .. } => "identity",
        PatchFailure::Duplicate { .. } => "duplicate",
        _ => "bound",
    }
}

fn expected(vector: &Vector, objects: &[Value]) -> Result<Vec<Value>, String> {
    if let Some(error) = &vector.error {
        return Err(error.kind.clone());
    }
    let full = |object: &Value| match object.as_u64() {
        Some(place) => objects[usize::try_from(place).unwrap()].clone(),
        None => object.clone(),
    };
    Ok(vector.result.iter().map(full).collect())
}

fn files() -> Vec<(String, VectorFile)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        (name, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    };
    paths.into_iter().map(read).collect()
}

/// Compares one vector; says what differs.
fn difference(file: &VectorFile, vector: &Vector) -> Option<String> {
    let objects = vector.objects.as_ref().or(file.objects.as_ref()).unwrap();
    match (build(vector, objects), expected(vector, objects)) {
        (Ok(ours), Ok(theirs)) if ours == theirs => None,
        (Err((ours, _)), Err(theirs)) if ours == theirs => None,
        (Ok(ours), Ok(theirs)) => {
            let mut lines = Vec::new();
            leaves("", &Value::Array(ours), &Value::Array(theirs), &mut lines);
            Some(lines.join(""))
        }
        (ours, theirs) => Some(match (ours, theirs) {
            (Ok(_), Err(kind)) => format!("kustomize fails ({kind}), we do not"),
            (Err((kind, message)), Ok(_)) => format!("we fail ({kind}: {message}), kustomize does not"),
            (Err((kind, message)), Err(theirs)) => {
                format!("we fail with {kind} ({message}), kustomize with {theirs}")
            }
            (Ok(_), Ok(_)) => String::new(),
        }),
    }
}

/// The places where two values differ.
fn leaves(path: &str, ours: &Value, theirs: &Value, lines: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))) {
                let (a, b) = (a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null));
                leaves(&format!("{path}/{name}"), a, b, lines);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(i, (a, b))| leaves(&format!("{path}/{i}"), a, b, lines));
        }
        (ours, theirs) if ours == theirs => {}
        (ours, theirs) => lines.push(format!("\n  {path}\n    ours:      {ours}\n    kustomize: {theirs}")),
    }
}

#[test]
fn kustomize_and_we_give_the_same_answers() {
    let mut differences = Vec::new();
    let mut compared = 0;
    for (name, file) in files() {
        for vector in &file.vectors {
            compared += 1;
            let is_exception = EXCEPTIONS.iter().any(|(exception, _)| *exception == vector.name);
            match difference(&file, vector) {
                Some(difference) if !is_exception => {
                    differences.push(format!("{name}: {}: {difference}", vector.name));
                }
                None if is_exception => {
                    differences.push(format!("{name}: {}: is no exception any more", vector.name));
                }
                _ => {}
            }
        }
    }
    assert!(compared >= 400, "only {compared} vectors were found");
    assert!(
        differences.is_empty(),
        "{} of {compared} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
