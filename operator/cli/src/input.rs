//! Files that a person names, `-` for standard input.

use std::{
    fs::File,
    io::{self, Read, stdin},
    path::{Path, PathBuf},
};

use crds::{DEFAULT_NAMESPACE, FluxInstance, flux_instance::Violation};
use manifests::{
    objects::{kind, split_api_version},
    yaml,
};
use serde_json::Value;
use thiserror::Error;

/// The largest file that is read, in bytes: an object in a cluster has at most 1.5 MiB.
const MAX_INPUT_BYTES: u64 = 4 * 1024 * 1024;

/// Why a file cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum InputError {
    #[error("failed to read {file}")]
    Read { file: String, source: io::Error },
    #[error("{file} has more than {MAX_INPUT_BYTES} bytes")]
    TooLarge { file: String },
    #[error("{file} is not YAML")]
    Yaml { file: String, source: yaml::ReadError },
    #[error("{file} is empty")]
    Empty { file: String },
    #[error("{file} holds no FluxInstance of {}/{}; it holds: {}", crds::GROUP, crds::VERSION, found.join(", "))]
    NoInstance { file: String, found: Vec<String> },
    #[error("{file} holds {count} FluxInstances, and a cluster has one: leave one of them")]
    ManyInstances { file: String, count: usize },
    #[error("{file}: {field}: {source}")]
    Field { file: String, field: String, source: serde_json::Error },
    #[error("{file} breaks rules of the FluxInstance: {}", sentences(violations))]
    Violations { file: String, violations: Vec<Violation> },
}

/// An instance as written by a person.
#[derive(Debug)]
pub(crate) struct WrittenInstance {
    /// The instance; its namespace is set.
    pub(crate) instance: FluxInstance,
    /// What has no effect: most of it is a typing error.
    pub(crate) oddities: Vec<String>,
}

/// Reads the one FluxInstance of a file, which may hold other objects too.
///
/// Its namespace is the one that it names, else the one given, else `flux-system`.
pub(crate) fn read_instance(path: &Path, namespace: Option<&str>) -> Result<WrittenInstance, InputError> {
    let file = display(path);
    let text = read(path)?;
    let documents =
        yaml::documents(&text).map_err(|source| InputError::Yaml { file: file.clone(), source })?;
    let (mut instances, others): (Vec<Value>, Vec<Value>) =
        documents.into_iter().flat_map(|document| items(document.value)).partition(is_instance);
    match (instances.pop(), instances.len()) {
        (Some(instance), 0) => {
            let mut written = parse(file, instance)?;
            written.oddities.extend(repeated_key(&text));
            let named = written.instance.metadata.namespace.take().filter(|named| !named.is_empty());
            let namespace = named.unwrap_or_else(|| namespace.unwrap_or(DEFAULT_NAMESPACE).to_owned());
            written.instance.metadata.namespace = Some(namespace);
            Ok(written)
        }
        (Some(_), others) => Err(InputError::ManyInstances { file, count: others + 1 }),
        (None, _) if others.is_empty() => Err(InputError::Empty { file }),
        (None, _) => Err(InputError::NoInstance { file, found: others.iter().map(what).collect() }),
    }
}

fn parse(file: String, mut object: Value) -> Result<WrittenInstance, InputError> {
    // Checked by the caller, and not part of the type.
    for field in ["apiVersion", "kind"] {
        object.as_object_mut().and_then(|fields| fields.remove(field));
    }
    let mut oddities = Vec::new();
    let mut note = |path: serde_ignored::Path<'_>| {
        // Optional parents show as question marks.
        let field = path.to_string().replace(".?", "");
        oddities.push(format!("a FluxInstance has no field {field}: it has no effect"));
    };
    let deserializer = serde_ignored::Deserializer::new(object, &mut note);
    let parsed: Result<FluxInstance, _> = serde_path_to_error::deserialize(deserializer);
    let instance = parsed.map_err(|error| InputError::Field {
        file: file.clone(),
        field: match error.path().to_string().as_str() {
            "." => "the FluxInstance".to_owned(),
            field => field.to_owned(),
        },
        source: error.into_inner(),
    })?;
    let violations = instance.violations();
    if !violations.is_empty() {
        return Err(InputError::Violations { file, violations });
    }
    Ok(WrittenInstance { instance, oddities })
}

/// A key that the first document has twice: the last one counts, as everywhere in Kubernetes.
fn repeated_key(text: &str) -> Option<String> {
    let error = yaml::from_str_strict(text).err()?;
    match error.problem {
        yaml::Problem::DuplicateKey { key } => {
            Some(format!("line {}: {key} is there twice, and only the last one has an effect", error.line))
        }
        _ => None,
    }
}

fn read(path: &Path) -> Result<String, InputError> {
    let file = display(path);
    let failed = |source| InputError::Read { file: file.clone(), source };
    let reader: Box<dyn Read> =
        if is_stdin(path) { Box::new(stdin()) } else { Box::new(File::open(path).map_err(failed)?) };
    let mut text = String::new();
    reader.take(MAX_INPUT_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_INPUT_BYTES {
        return Err(InputError::TooLarge { file });
    }
    Ok(text)
}

/// The items of a List, as `kubectl get --output yaml` writes one; of anything else itself.
fn items(object: Value) -> Vec<Value> {
    let is_list = kind(&object) == "List" && split_api_version(&object) == ("", "v1");
    match object {
        Value::Object(mut fields) if is_list => match fields.remove("items") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        object => vec![object],
    }
}

fn is_instance(object: &Value) -> bool {
    split_api_version(object) == (crds::GROUP, crds::VERSION) && kind(object) == "FluxInstance"
}

fn what(object: &Value) -> String {
    match (kind(object), split_api_version(object)) {
        ("", _) => "a document without kind".to_owned(),
        (kind, ("", version)) => format!("{kind} of {version}"),
        (kind, (group, version)) => format!("{kind} of {group}/{version}"),
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn display(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn sentences(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The path of `--filename`.
pub(crate) type InputPath = PathBuf;
