//! Applying patches to a set of objects.

use serde_json::Value;

use crate::id::Id;
use crate::limits::{MAX_OBJECT_BYTES, MAX_PATCHES};
use crate::measure;
use crate::merge;
use crate::operation::Operation;
use crate::patch::{Patch, PatchError, PatchFailure, PatchFinding, PatchPosition, PatchWarning};
use crate::patch_text::Plan;
use crate::resources::{
    Resource, Resources, drop_empty_annotations, make_texts, missing_field, tidy_annotations,
};
use crate::target::Matcher;

impl Resources {
    /// Applies `patches` in order. All are read before the first is applied.
    ///
    /// Returns what is odd about patches that applied: nothing matched, nothing changed.
    ///
    /// # Errors
    ///
    /// The first patch that cannot be read or applied; the objects are then as before.
    pub fn patch(&mut self, patches: &[Patch]) -> Result<Vec<PatchWarning>, PatchError> {
        let ready = patches.iter().enumerate().map(|(index, patch)| {
            let position = PatchPosition { number: index + 1, target: patch.target.clone().map(Box::new) };
            if index >= MAX_PATCHES {
                return Err(PatchFailure::TooManyPatches { patches: patches.len() }.at(position));
            }
            Ready::new(patch).map_err(|cause| cause.at(position.clone())).map(|ready| (position, ready))
        });
        let ready = ready.collect::<Result<Vec<_>, _>>()?;
        let mut changed = self.clone();
        let mut warnings = Vec::new();
        for (position, ready) in &ready {
            let findings = ready.apply(&mut changed).map_err(|cause| cause.at(position.clone()))?;
            warnings.extend(
                findings.into_iter().map(|finding| PatchWarning { position: position.clone(), finding }),
            );
        }
        *self = changed;
        Ok(warnings)
    }
}

/// A patch that has been read, with its objects still to find.
enum Ready {
    Nothing,
    /// Each document for the object that it names.
    ByName(Vec<Value>),
    /// One document for every object that matches.
    ByTarget(Matcher, Value),
    Operations {
        matcher: Matcher,
        operations: Vec<Operation>,
        ignored: usize,
    },
}

/// Whether an object is another one after a patch than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Changed,
    Unchanged,
}

impl Ready {
    fn new(patch: &Patch) -> Result<Self, PatchFailure> {
        let plan = Plan::read(&patch.patch)?;
        let matcher = patch.target.as_ref().map(Matcher::new).transpose()?;
        match (plan, matcher) {
            (Plan::Nothing, _) => Ok(Self::Nothing),
            (Plan::Merge(documents), None) => Ok(Self::ByName(documents)),
            (Plan::Merge(documents), Some(matcher)) => match <[Value; 1]>::try_from(documents) {
                Ok([mut document]) => {
                    prepare_for_target(&mut document);
                    Ok(Self::ByTarget(matcher, document))
                }
                Err(documents) => Err(PatchFailure::SeveralDocuments { documents: documents.len() }),
            },
            (Plan::Operations { .. }, None) => Err(PatchFailure::NoTarget),
            (Plan::Operations { operations, ignored }, Some(matcher)) => {
                Ok(Self::Operations { matcher, operations, ignored })
            }
        }
    }

    fn apply(&self, resources: &mut Resources) -> Result<Vec<PatchFinding>, PatchFailure> {
        match self {
            Self::Nothing => Ok(vec![PatchFinding::Empty]),
            Self::ByName(documents) => {
                let mut touched = Vec::new();
                for document in documents {
                    touched.push(merge_by_name(resources, document)?);
                }
                Ok(findings(&touched, 0))
            }
            Self::ByTarget(matcher, document) => {
                let touched = for_each_match(resources, matcher, |resource| {
                    let mut document = document.clone();
                    if let (Some(fields), Some(api_version)) =
                        (document.as_object_mut(), resource.value.get("apiVersion"))
                    {
                        fields.insert("apiVersion".to_owned(), api_version.clone());
                    }
                    merge_into(resource, document)
                })?;
                Ok(findings(&touched, 0))
            }
            Self::Operations { matcher, operations, ignored } => {
                let touched =
                    for_each_match(resources, matcher, |resource| operate_on(resource, operations))?;
                refuse_duplicates(resources, &touched)?;
                Ok(findings(&touched, *ignored))
            }
        }
    }
}

/// What one patch did to one object; the id is the one before.
type Touched = (Id, Effect);

fn for_each_match(
    resources: &mut Resources,
    matcher: &Matcher,
    mut change: impl FnMut(&mut Resource) -> Result<Effect, PatchFailure>,
) -> Result<Vec<Touched>, PatchFailure> {
    let mut touched = Vec::new();
    for resource in resources.list.iter_mut().filter(|resource| matcher.matches(resource)) {
        touched.push((resource.id(), change(resource)?));
    }
    drop_deleted(resources);
    Ok(touched)
}

fn merge_by_name(resources: &mut Resources, document: &Value) -> Result<Touched, PatchFailure> {
    let id = Id::of(document);
    let is_meant = |resource: &Resource| {
        !resource.value.is_null()
            && (resource.id().is_same_object(&id)
                || resource.previous_ids().iter().any(|previous| previous.is_same_object(&id)))
    };
    let places: Vec<usize> =
        resources.list.iter().enumerate().filter(|(_, r)| is_meant(r)).map(|(place, _)| place).collect();
    let [place] = places.as_slice() else {
        return Err(if places.is_empty() {
            PatchFailure::NoObject { id: Box::new(id) }
        } else {
            PatchFailure::SeveralObjects { id: Box::new(id), objects: places.len() }
        });
    };
    let Some(resource) = resources.list.get_mut(*place) else {
        return Err(PatchFailure::NoObject { id: Box::new(id) });
    };
    let touched = (resource.id(), merge_into(resource, document.clone())?);
    drop_deleted(resources);
    Ok(touched)
}

/// Merges a document; name, namespace and kind stay. A deleted object is left null.
fn merge_into(resource: &mut Resource, document: Value) -> Result<Effect, PatchFailure> {
    let id = resource.id();
    let failed = |source| PatchFailure::Merge { object: Box::new(id.clone()), source };
    let before = resource.value.clone();
    let Some(mut merged) = merge::merge(before.clone(), document).map_err(failed)? else {
        resource.value = Value::Null;
        return Ok(Effect::Changed);
    };
    keep_identity(&mut merged, &id);
    resource.value = merged;
    tidy_annotations(&mut resource.value);
    drop_empty_annotations(&mut resource.value);
    settle(resource, &id)?;
    Ok(if resource.value == before { Effect::Unchanged } else { Effect::Changed })
}

fn operate_on(resource: &mut Resource, operations: &[Operation]) -> Result<Effect, PatchFailure> {
    let id = resource.id();
    let before = resource.value.clone();
    resource.remember_id();
    let mut copied = 0;
    for (index, operation) in operations.iter().enumerate() {
        operation.apply(&mut resource.value, &mut copied).map_err(|source| PatchFailure::Operation {
            number: index + 1,
            operation: operation.to_string(),
            object: Box::new(id.clone()),
            source,
        })?;
    }
    tidy_annotations(&mut resource.value);
    drop_empty_annotations(&mut resource.value);
    settle(resource, &id)?;
    Ok(if resource.value == before { Effect::Unchanged } else { Effect::Changed })
}

/// What must hold for every object after a patch.
fn settle(resource: &Resource, id: &Id) -> Result<(), PatchFailure> {
    if let Some(field) = missing_field(&resource.value) {
        return Err(PatchFailure::IdentityLost { object: Box::new(id.clone()), field });
    }
    let bytes = measure::size(&resource.value);
    if bytes > MAX_OBJECT_BYTES {
        return Err(PatchFailure::TooLarge { object: Box::new(id.clone()), bytes });
    }
    Ok(())
}

fn keep_identity(object: &mut Value, id: &Id) {
    let Some(fields) = object.as_object_mut() else { return };
    fields.insert("kind".to_owned(), Value::String(id.kind.clone()));
    let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(serde_json::Map::new()));
    let Some(metadata) = metadata.as_object_mut() else { return };
    metadata.insert("name".to_owned(), Value::String(id.name.clone()));
    if id.namespace.is_empty() {
        metadata.remove("namespace");
    } else {
        metadata.insert("namespace".to_owned(), Value::String(id.namespace.clone()));
    }
}

/// With a target kustomize reads the labels and annotations of the patch as texts before it merges them.
fn prepare_for_target(document: &mut Value) {
    let Some(metadata) = document.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    for field in ["labels", "annotations"] {
        let Some(Value::Object(texts)) = metadata.get_mut(field) else { continue };
        if texts.is_empty() {
            metadata.remove(field);
        } else {
            make_texts(texts);
        }
    }
}

fn refuse_duplicates(resources: &Resources, touched: &[Touched]) -> Result<(), PatchFailure> {
    if touched.iter().all(|(_, effect)| *effect == Effect::Unchanged) {
        return Ok(());
    }
    let ids: Vec<Id> = resources.iter().map(Resource::id).collect();
    for (place, id) in ids.iter().enumerate() {
        if ids.iter().take(place).any(|other| other.is_same_object(id)) {
            let original = resources.list.get(place).map_or_else(|| id.clone(), Resource::original_id);
            return Err(PatchFailure::Duplicate { object: Box::new(original), id: Box::new(id.clone()) });
        }
    }
    Ok(())
}

fn drop_deleted(resources: &mut Resources) {
    resources.list.retain(|resource| !resource.value.is_null());
}

fn findings(touched: &[Touched], ignored: usize) -> Vec<PatchFinding> {
    let mut findings = Vec::new();
    if touched.is_empty() {
        findings.push(PatchFinding::MatchesNothing);
    } else if touched.iter().all(|(_, effect)| *effect == Effect::Unchanged) {
        let objects = touched.iter().map(|(id, _)| id.clone()).collect();
        findings.push(PatchFinding::ChangesNothing { objects });
    }
    if ignored > 0 {
        findings.push(PatchFinding::IgnoredDocuments { documents: ignored });
    }
    findings
}
