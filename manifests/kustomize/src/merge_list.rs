//! Merging of lists whose elements have a key, in kustomize's order: first what the patch names, then the rest.

use std::borrow::Cow;

use serde_json::Value;

use crate::directive::{self, Directive};
use crate::merge::{MergeError, Walk};
use crate::schema::Node;

/// What the patch says about a list.
pub(crate) enum Patched {
    /// Nothing.
    Not,
    /// The list comes from the patch itself.
    Itself,
    /// These elements.
    By(Vec<Value>),
}

impl Patched {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Not | Self::Itself => 0,
            Self::By(elements) => elements.len(),
        }
    }
}

/// The values of the merge keys of one element; empty text where it has none.
type Values = Vec<String>;

/// A list of plain values, for example finalizers: a set that keeps its order.
pub(crate) fn plain_values(dest: Vec<Value>, patch: Patched) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    let patched = if let Patched::By(elements) = patch { elements } else { Vec::new() };
    for element in patched.into_iter().chain(dest) {
        let known = merged.iter().any(|known| scalar_text(known) == scalar_text(&element));
        if !known && !element.is_null() {
            merged.push(element);
        }
    }
    merged
}

/// True when every element says which element it is, so that the list can be merged.
pub(crate) fn all_have_keys(elements: &[Value], keys: &[&str]) -> bool {
    let Some(first) = keys.first() else { return true };
    elements.iter().all(|element| !key_text(element, first).is_empty())
}

/// A list of maps. The steps and their order are kustomize's, because the order of the result follows from them.
pub(crate) fn by_key(
    walk: &mut Walk,
    mut dest: Vec<Value>,
    mut patch: Patched,
    keys: &[&str],
    elements: Option<&'static Node>,
) -> Result<Vec<Value>, MergeError> {
    require_keys(walk, &dest, keys)?;
    if let Patched::By(patched) = &patch {
        require_keys(walk, patched, keys)?;
    }
    let wanted = wanted_elements(&dest, &patch, keys);
    let keys = used_keys(&wanted, keys);
    let mut merged: Vec<Value> = Vec::new();
    for values in &wanted {
        let key = ElementKey { keys: &keys, values: &pick(values, &keys) };
        let Some(mut element) = merge_element(walk, &mut dest, &mut patch, &key, elements)? else {
            remove(&mut dest, &key);
            continue;
        };
        key.complete(&mut element.value);
        if let Some(slot) = element.index.and_then(|index| dest.get_mut(index)) {
            slot.clone_from(&element.value);
        }
        put(&mut merged, element.value, &key);
    }
    if wanted.is_empty() {
        return Ok(dest);
    }
    append(&mut merged, dest, &keys);
    Ok(merged)
}

/// A merged element and, when it is the object's own, its place in the object's list.
struct Merged {
    value: Value,
    index: Option<usize>,
}

fn merge_element(
    walk: &mut Walk,
    dest: &mut [Value],
    patch: &mut Patched,
    key: &ElementKey<'_>,
    elements: Option<&'static Node>,
) -> Result<Option<Merged>, MergeError> {
    let narrow = key.without_empty();
    let index = dest.iter().position(|element| narrow.names(element));
    // The place is left null: kustomize's own steps drop such an element, and nothing else refers to it.
    let own = index.and_then(|index| dest.get_mut(index)).map(Value::take);
    let patched = match patch {
        Patched::By(patched) => patched.iter_mut().find(|element| narrow.names(element)).map(Value::take),
        Patched::Not | Patched::Itself => None,
    };
    let replaced = patched.as_ref().and_then(directive::of_map) == Some(Directive::Replace) && own.is_some();
    // kustomize merges the replacement and then finds the old element again, which wins.
    let before = if replaced { own.clone() } else { None };
    let label = key.label();
    let value = walk.within(&label, |walk| match patch {
        Patched::Itself => own.map_or(Ok(None), |own| walk.adopt(own, elements)),
        Patched::Not | Patched::By(_) => walk.pair(own, patched, elements),
    })?;
    if let (Some(slot), Some(before)) = (index.and_then(|index| dest.get_mut(index)), before) {
        *slot = before;
        return Ok(value.filter(has_content).map(|value| Merged { value, index: None }));
    }
    Ok(value.filter(has_content).map(|value| Merged { value, index }))
}

fn has_content(value: &Value) -> bool {
    value.as_object().is_none_or(|fields| !fields.is_empty())
}

fn require_keys(walk: &Walk, elements: &[Value], keys: &[&str]) -> Result<(), MergeError> {
    if all_have_keys(elements, keys) {
        return Ok(());
    }
    let key = keys.first().copied().unwrap_or_default().to_owned();
    Err(MergeError::MissingMergeKey { path: walk.pointer(), key })
}

/// The elements of both lists by their keys, those of the patch first.
fn wanted_elements(dest: &[Value], patch: &Patched, keys: &[&str]) -> Vec<Values> {
    let patched: &[Value] = if let Patched::By(elements) = patch { elements } else { &[] };
    let mut wanted: Vec<Values> = Vec::new();
    for element in patched.iter().chain(dest) {
        let values: Values = keys.iter().map(|key| key_text(element, key).into_owned()).collect();
        if !wanted.contains(&values) {
            wanted.push(values);
        }
    }
    if keys.len() > 1 {
        unify(&mut wanted);
    }
    wanted
}

/// Two elements that differ only in that one lacks a key are one: port 80 and port 80 over TCP.
fn unify(wanted: &mut Vec<Values>) {
    for i in 0..wanted.len() {
        // kustomize compares with the values from before this round.
        let Some(one) = wanted.get(i).cloned() else { continue };
        for j in 0..wanted.len() {
            let Some(unified) = wanted.get(j).and_then(|other| unified(&one, other)) else { continue };
            for place in [i, j] {
                if let Some(values) = wanted.get_mut(place) {
                    values.clone_from(&unified);
                }
            }
        }
    }
    let mut seen: Vec<Values> = Vec::new();
    wanted.retain(|values| {
        let new = !seen.contains(values);
        if new {
            seen.push(values.clone());
        }
        new
    });
}

fn unified(one: &Values, other: &Values) -> Option<Values> {
    let mut common = false;
    let mut values = Vec::with_capacity(one.len());
    for (a, b) in one.iter().zip(other) {
        if a == b {
            common = true;
        } else if !a.is_empty() && !b.is_empty() {
            return None;
        }
        values.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    common.then_some(values)
}

/// The keys that any element has, each with its place.
fn used_keys<'a>(wanted: &[Values], keys: &[&'a str]) -> Vec<(usize, &'a str)> {
    let is_used = |place: usize| wanted.iter().any(|values| values.get(place).is_some_and(|v| !v.is_empty()));
    keys.iter().copied().enumerate().filter(|(place, _)| is_used(*place)).collect()
}

fn pick(values: &Values, keys: &[(usize, &str)]) -> Values {
    keys.iter().map(|(place, _)| values.get(*place).cloned().unwrap_or_default()).collect()
}

/// Which element is meant.
struct ElementKey<'a> {
    keys: &'a [(usize, &'a str)],
    values: &'a [String],
}

impl ElementKey<'_> {
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys.iter().map(|(_, key)| *key).zip(self.values.iter().map(String::as_str))
    }

    /// The pairs that have a value: those that an element must have, exactly.
    fn without_empty(&self) -> Exactly<'_> {
        Exactly(self.pairs().filter(|(_, value)| !value.is_empty()).collect())
    }

    /// True when `element` is meant; a key without value only asks that the element has it.
    fn matches(&self, element: &Value) -> bool {
        self.pairs().all(|(key, value)| {
            element.get(key).is_some_and(|field| value.is_empty() || scalar_text(field) == value)
        })
    }

    /// Writes keys that the element lacks.
    fn complete(&self, element: &mut Value) {
        let Some(fields) = element.as_object_mut() else { return };
        for (key, value) in self.pairs().filter(|(_, value)| !value.is_empty()) {
            fields.entry(key).or_insert_with(|| Value::String(value.to_owned()));
        }
    }

    fn label(&self) -> String {
        let pairs: Vec<String> = self
            .pairs()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        format!("[{}]", pairs.join(","))
    }
}

struct Exactly<'a>(Vec<(&'a str, &'a str)>);

impl Exactly<'_> {
    fn names(&self, element: &Value) -> bool {
        self.0.iter().all(|(key, value)| element.get(*key).is_some_and(|field| scalar_text(field) == *value))
    }
}

/// Deletes every element that is meant, and empty ones.
fn remove(elements: &mut Vec<Value>, key: &ElementKey<'_>) {
    elements.retain(|element| is_element(element) && !key.matches(element));
}

/// Replaces every element that is meant, or appends.
fn put(elements: &mut Vec<Value>, element: Value, key: &ElementKey<'_>) {
    elements.retain(is_element);
    let mut found = false;
    for slot in elements.iter_mut().filter(|slot| key.matches(slot)) {
        found = true;
        slot.clone_from(&element);
    }
    if !found {
        elements.push(element);
    }
}

/// Adds the object's own elements to the merged ones.
fn append(merged: &mut Vec<Value>, dest: Vec<Value>, keys: &[(usize, &str)]) {
    for element in dest.into_iter().filter(is_element) {
        let mut values: Values = Vec::new();
        for (_, key) in keys {
            match element.get(*key).filter(|field| !field.is_null()) {
                Some(field) => values.push(scalar_text(field).into_owned()),
                // Twice in the list for a moment: the removal below takes both out.
                None => merged.push(element.clone()),
            }
        }
        let known = keys.get(..values.len()).unwrap_or(keys);
        let key = ElementKey { keys: known, values: &values };
        if keys.len() > 1 {
            remove(merged, &key);
        }
        put(merged, element, &key);
    }
}

fn is_element(element: &Value) -> bool {
    !element.is_null() && has_content(element)
}

fn key_text<'a>(element: &'a Value, key: &str) -> Cow<'a, str> {
    element.get(key).map(scalar_text).unwrap_or_default()
}

/// A plain value as text, so that port 80 is port "80"; anything else has no text.
fn scalar_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Bool(_) | Value::Number(_) => Cow::Owned(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Cow::Borrowed(""),
    }
}
