//! A kind, and how its objects are read from files.

use crds::{FluxInstance, FluxReport, ResourceSet, ResourceSetInputProvider, Violation};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A kind under test.
pub(crate) struct Kind {
    /// What it is called in an object.
    pub(crate) name: &'static str,
    /// What it is called in a path.
    pub(crate) plural: &'static str,
    /// Reads an object without an API server.
    pub(crate) read: fn(Value) -> Reading,
}

/// The spec of an object with all defaults, or what is wrong with it.
pub(crate) type Reading = Result<Value, Vec<String>>;

impl Kind {
    /// The definition of this kind.
    pub(crate) fn definition(&self) -> Value {
        let definitions = crds::definitions().into_iter().map(|definition| definition.definition);
        let mut ours = definitions.filter(|definition| definition.spec.names.kind == self.name);
        serde_json::to_value(ours.next().unwrap()).unwrap()
    }
}

/// An object that can say which rules it breaks.
pub(crate) trait Rules {
    /// The broken rules.
    fn broken(&self) -> Vec<Violation>;
}

impl Rules for FluxInstance {
    fn broken(&self) -> Vec<Violation> {
        self.violations()
    }
}

impl Rules for FluxReport {
    fn broken(&self) -> Vec<Violation> {
        self.violations()
    }
}

impl Rules for ResourceSet {
    fn broken(&self) -> Vec<Violation> {
        self.violations()
    }
}

impl Rules for ResourceSetInputProvider {
    fn broken(&self) -> Vec<Violation> {
        self.violations()
    }
}

/// Reads an object as a command does that is given a file.
pub(crate) fn read<K: DeserializeOwned + Serialize + Rules>(object: Value) -> Reading {
    let object: K = serde_json::from_value(object).map_err(|error| vec![error.to_string()])?;
    let broken: Vec<String> = object.broken().iter().map(ToString::to_string).collect();
    if broken.is_empty() { Ok(serde_json::to_value(object).unwrap()["spec"].take()) } else { Err(broken) }
}
