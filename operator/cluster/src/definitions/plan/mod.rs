//! What is to be done about a definition: a function of what is there and what is wanted.

#[cfg(test)]
mod tests;

use kube::discovery::ApiResource;
use serde_json::Value;

/// The label that names the release of Flux that an object comes from.
const VERSION_LABEL: &str = "app.kubernetes.io/version";

/// How many objects of a kind are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those in which a field is owned in another version than the new one.
    OwnedFields,
    /// All: what may be stored in another version is stored anew.
    Everything,
}

/// What is to be done before a definition is applied.
#[derive(Debug, PartialEq)]
pub(super) enum Plan {
    /// Nothing.
    Apply,
    /// It is not applied: the one that is there is of this newer release.
    Leave(String),
    /// Its objects are to leave the versions that it drops.
    Bridge(Box<Bridge>),
}

/// The way from a definition to one that has fewer versions.
#[derive(Debug, PartialEq)]
pub(super) struct Bridge {
    /// The wanted definition, which goes on serving the versions that it drops.
    pub(super) open: Value,
    /// The same, without serving them: nobody can write them any more.
    pub(super) closed: Value,
    /// The versions that are there and not wanted.
    pub(super) dropped: Vec<String>,
    /// What the objects are rewritten to.
    pub(super) target: Target,
    /// Which objects are rewritten.
    pub(super) reach: Reach,
}

/// The version that the objects of a definition are to be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Name of the definition.
    pub(super) definition: String,
    /// Its kind in the version that it stores.
    pub(super) resource: ApiResource,
    /// Its objects live in namespaces.
    pub(super) is_namespaced: bool,
}

impl Target {
    /// None when the version that a definition stores is not served: its objects cannot be written then.
    pub(super) fn of(definition: &Value) -> Option<Self> {
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let stored = versions(definition).iter().find(|version| has(version, "storage"))?;
        let (group, version) = (text("/spec/group").to_owned(), name(stored).to_owned());
        has(stored, "served").then(|| Self {
            definition: text("/metadata/name").to_owned(),
            resource: ApiResource {
                api_version: format!("{group}/{version}"),
                group,
                version,
                kind: text("/spec/names/kind").to_owned(),
                plural: text("/spec/names/plural").to_owned(),
            },
            is_namespaced: text("/spec/scope") == "Namespaced",
        })
    }
}

/// What is to be done so that the wanted definition can be applied to the one that is there.
pub(super) fn plan(live: &Value, wanted: &Value, is_newer: &dyn Fn(&str) -> bool) -> Plan {
    let release = label(live);
    if let Some(release) = release.filter(|release| label(wanted) != Some(release) && is_newer(release)) {
        return Plan::Leave(release.to_owned());
    }
    let dropped: Vec<&Value> =
        versions(live).iter().filter(|version| !has_version(wanted, name(version))).collect();
    // One without a version to write in cannot be bridged; the API server says what is wrong with it.
    let target = Target::of(wanted).filter(|_| !dropped.is_empty());
    let Some(target) = target else { return Plan::Apply };
    let may_be_stored =
        |version: &&Value| has(version, "storage") || stored(live).any(|v| v == name(version));
    Plan::Bridge(Box::new(Bridge {
        open: bridged(live, wanted, dropped.iter().map(|&version| carried(version, None))),
        closed: bridged(live, wanted, dropped.iter().map(|&version| carried(version, Some(false)))),
        target,
        reach: if dropped.iter().any(may_be_stored) { Reach::Everything } else { Reach::OwnedFields },
        dropped: dropped.into_iter().map(|version| name(version).to_owned()).collect(),
    }))
}

/// What is to be rewritten of the objects of a definition: all when they may be stored in another version
/// than the one that it stores, else what is asked for.
pub(super) fn migration(live: &Value, asked: Option<Reach>) -> Option<(Target, Reach)> {
    let target = Target::of(live)?;
    let reach = if is_exact(live, &target.resource.version) { asked? } else { Reach::Everything };
    Some((target, reach))
}

/// The status of a definition says that its objects are stored in this version, and in no other.
pub(super) fn is_exact(definition: &Value, version: &str) -> bool {
    stored(definition).eq([version])
}

/// The generation of the spec.
pub(super) fn generation(definition: &Value) -> i64 {
    definition.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default()
}

/// The wanted definition with more versions.
fn bridged(live: &Value, wanted: &Value, carried: impl Iterator<Item = Value>) -> Value {
    let mut bridge = wanted.clone();
    let Some(spec) = bridge.get_mut("spec").and_then(Value::as_object_mut) else { return bridge };
    if let Some(versions) = spec.get_mut("versions").and_then(Value::as_array_mut) {
        versions.extend(carried);
    }
    // The versions that go may differ in more than their names, and then only their webhook converts them.
    let conversion =
        live.pointer("/spec/conversion").filter(|conversion| conversion["strategy"] == "Webhook");
    if let Some(conversion) = conversion.filter(|_| !spec.contains_key("conversion")) {
        spec.insert("conversion".to_owned(), conversion.clone());
    }
    bridge
}

/// A version that is not stored any more.
fn carried(version: &Value, served: Option<bool>) -> Value {
    let mut carried = version.clone();
    if let Some(fields) = carried.as_object_mut() {
        fields.insert("storage".to_owned(), false.into());
        if let Some(served) = served {
            fields.insert("served".to_owned(), served.into());
        }
    }
    carried
}

fn versions(definition: &Value) -> &[Value] {
    definition.pointer("/spec/versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn has_version(definition: &Value, wanted: &str) -> bool {
    versions(definition).iter().any(|version| name(version) == wanted)
}

fn stored(definition: &Value) -> impl Iterator<Item = &str> {
    let stored = definition.pointer("/status/storedVersions").and_then(Value::as_array);
    stored.into_iter().flatten().filter_map(Value::as_str)
}

fn label(definition: &Value) -> Option<&str> {
    definition.get("metadata")?.get("labels")?.get(VERSION_LABEL)?.as_str()
}

fn name(version: &Value) -> &str {
    version.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn has(version: &Value, flag: &str) -> bool {
    version.get(flag).and_then(Value::as_bool).unwrap_or_default()
}
