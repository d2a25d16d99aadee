//! Fields that name other objects follow when these are renamed.

use serde_json::Value;

use crate::field_path::{BackReferences, Created, FieldSpec, WrongType, is_selected};
use crate::field_spec_table::NAME_REFERENCES;
use crate::id::{Id, text};
use crate::resources::{Resource, Resources};
use crate::transform::{TransformError, wrong_type};

impl Resources {
    /// Corrects the fields of built-in kinds that name an object by a name that it had before.
    ///
    /// [`Resources::namespace`] and [`Resources::name_suffix`] do this within their set; call it again after
    /// [`Resources::append`] or after a patch that renames, for references between what came together.
    ///
    /// # Errors
    ///
    /// When a reference could mean several objects, or an object does not have the shape of its kind.
    pub fn fix_references(&mut self) -> Result<(), TransformError> {
        let mut renamed: Vec<Renamed> = self
            .list
            .iter()
            .enumerate()
            .filter_map(|(place, resource)| Renamed::new(place, resource))
            .collect();
        for place in 0..self.list.len() {
            let Some(resource) = self.list.get_mut(place) else { continue };
            let referrer = Referrer::new(resource);
            for references in &NAME_REFERENCES {
                for spec in references.referrers.iter().filter(|spec| spec.is_for(&referrer.original)) {
                    let search = Search { referrer: &referrer, references, spec, renamed: &renamed };
                    search.fix(&mut resource.value)?;
                }
            }
            // A referrer may itself be referred to by what comes later.
            if let Some(known) = renamed.iter_mut().find(|known| known.place == place) {
                known.now = resource.id();
            }
        }
        Ok(())
    }
}

/// An object that was called otherwise before.
struct Renamed {
    place: usize,
    now: Id,
    previous: Vec<Id>,
    suffixes: Vec<String>,
}

impl Renamed {
    fn new(place: usize, resource: &Resource) -> Option<Self> {
        let previous = resource.previous_ids();
        let suffixes = resource.suffixes.clone();
        (!previous.is_empty()).then(|| Self { place, now: resource.id(), previous, suffixes })
    }

    fn was_called(&self, name: &str) -> bool {
        self.previous.iter().any(|id| id.name == name)
    }

    fn was_of(&self, group: &str, version: &str, kind: &str) -> bool {
        self.previous.iter().any(|id| is_selected(id, group, version, kind))
    }

    fn original_namespace(&self) -> &str {
        self.previous.first().unwrap_or(&self.now).effective_namespace()
    }
}

/// The object that holds a reference.
struct Referrer {
    now: Id,
    original: Id,
    suffixes: Vec<String>,
    /// `roleRef` of a binding: group and kind.
    role: Option<(String, String)>,
    /// Namespaces of the accounts that a role binding names.
    account_namespaces: Vec<String>,
}

impl Referrer {
    fn new(resource: &Resource) -> Self {
        let value = &resource.value;
        let role = value.get("roleRef").and_then(|role| {
            let field = |name: &str| role.get(name).and_then(Value::as_str).map(str::to_owned);
            Some((field("apiGroup")?, field("kind")?))
        });
        Self {
            now: resource.id(),
            original: resource.original_id(),
            suffixes: resource.suffixes.clone(),
            role,
            account_namespaces: account_namespaces(value),
        }
    }
}

fn account_namespaces(value: &Value) -> Vec<String> {
    if text(value.get("kind")) != "RoleBinding" {
        return Vec::new();
    }
    let subjects = value.get("subjects").and_then(Value::as_array).map_or(&[] as &[Value], Vec::as_slice);
    let accounts = subjects.iter().filter(|subject| text(subject.get("kind")) == "ServiceAccount");
    accounts.filter_map(|account| account.get("namespace")?.as_str()).map(str::to_owned).collect()
}

/// A failure with the place still to add.
enum Failure {
    WrongType(WrongType),
    Ambiguous { name: String, candidates: Vec<Id> },
}

impl From<WrongType> for Failure {
    fn from(wrong: WrongType) -> Self {
        Self::WrongType(wrong)
    }
}

/// The search for what one field names.
struct Search<'a> {
    referrer: &'a Referrer,
    references: &'a BackReferences,
    spec: &'a FieldSpec,
    renamed: &'a [Renamed],
}

impl<'a> Search<'a> {
    fn fix(&self, object: &mut Value) -> Result<(), TransformError> {
        let fixed = self.spec.visit(object, Created::Nothing, &mut |place| self.fix_place(place));
        fixed.map_err(|failure| match failure {
            Failure::WrongType(wrong) => wrong_type(&self.referrer.now, wrong),
            Failure::Ambiguous { name, candidates } => TransformError::AmbiguousReference {
                object: Box::new(self.referrer.now.clone()),
                path: self.spec.path.to_owned(),
                name,
                candidates,
            },
        })
    }

    fn fix_place(&self, place: &mut Value) -> Result<(), Failure> {
        match place {
            Value::Null => Ok(()),
            Value::Array(elements) => elements.iter_mut().try_for_each(|element| match element {
                Value::Array(_) => Err(self.spec.wrong_type(element).into()),
                element => self.fix_place(element),
            }),
            Value::Object(_) => self.fix_map(place),
            plain => self.fix_text(plain),
        }
    }

    fn fix_text(&self, place: &mut Value) -> Result<(), Failure> {
        let Value::String(name) = place else { return Ok(()) };
        let found = self.find(name, self.renamed.iter().collect(), |a, b| a.name == b.name)?;
        if let Some(found) = found {
            name.clone_from(&found.now.name);
        }
        Ok(())
    }

    /// A map with `name` and perhaps `namespace`, for example a subject or the service of a webhook.
    fn fix_map(&self, place: &mut Value) -> Result<(), Failure> {
        let wrong = self.spec.wrong_type(place);
        let Value::Object(fields) = place else { return Ok(()) };
        let Some(name) = fields.get("name") else { return Err(wrong.into()) };
        let Some(name) = name.as_str().map(str::to_owned) else { return Ok(()) };
        let candidates = match fields.get("namespace") {
            None => self.renamed.iter().collect(),
            Some(namespace) => self.in_namespace(text(Some(namespace))),
        };
        let same = |a: &Id, b: &Id| a.name == b.name && a.namespace == b.namespace;
        let Some(found) = self.find(&name, candidates, same)? else { return Ok(()) };
        fields.insert("name".to_owned(), Value::String(found.now.name.clone()));
        if !found.now.namespace.is_empty() {
            fields.insert("namespace".to_owned(), Value::String(found.now.namespace.clone()));
        }
        Ok(())
    }

    /// Objects that were in a namespace at first; without any, those that are in it now.
    fn in_namespace(&self, namespace: &str) -> Vec<&'a Renamed> {
        let reachable = || self.renamed.iter().filter(|candidate| self.is_reachable(candidate));
        let first: Vec<&Renamed> =
            reachable().filter(|candidate| candidate.original_namespace() == namespace).collect();
        if first.is_empty() {
            return reachable().filter(|c| c.now.effective_namespace() == namespace).collect();
        }
        first
    }

    /// The object that `name` means. `same` says when two candidates lead to the same text.
    fn find(
        &self,
        name: &str,
        candidates: Vec<&'a Renamed>,
        same: impl Fn(&Id, &Id) -> bool,
    ) -> Result<Option<&'a Renamed>, Failure> {
        let mut candidates = candidates;
        candidates.retain(|candidate| {
            candidate.was_called(name)
                && candidate.was_of(self.references.group, self.references.version, self.references.kind)
                && self.fits_role(candidate)
                && self.is_reachable(candidate)
                && self.is_in_sight(candidate)
        });
        if candidates.len() > 1 {
            candidates.retain(|candidate| self.shares_suffixes(candidate, Empty::Matches));
        }
        if candidates.len() > 1 {
            candidates.retain(|candidate| self.shares_suffixes(candidate, Empty::Differs));
        }
        let Some((first, others)) = candidates.split_first() else { return Ok(None) };
        if others.iter().all(|other| same(&first.now, &other.now)) {
            return Ok(Some(first));
        }
        let candidates = candidates.iter().map(|candidate| candidate.now.clone()).collect();
        Err(Failure::Ambiguous { name: name.to_owned(), candidates })
    }

    /// A `roleRef` names its kind itself.
    fn fits_role(&self, candidate: &Renamed) -> bool {
        match &self.referrer.role {
            Some((group, kind)) if self.spec.path.ends_with("roleRef/name") => {
                candidate.was_of(group, "", kind)
            }
            _ => true,
        }
    }

    /// Namespaced objects refer to their own namespace; role bindings also to those of their accounts.
    fn is_reachable(&self, candidate: &Renamed) -> bool {
        let (referrer, other) = (&self.referrer.now, &candidate.now);
        referrer.is_cluster_scoped()
            || other.is_cluster_scoped()
            || referrer.effective_namespace() == other.effective_namespace()
            || self.referrer.account_namespaces.contains(&other.namespace)
    }

    fn is_in_sight(&self, candidate: &Renamed) -> bool {
        let (referrer, other) = (&self.referrer.now, &candidate.now);
        referrer.is_cluster_scoped()
            || other.is_cluster_scoped()
            || other.kind == "ServiceAccount"
            || referrer.effective_namespace() == other.effective_namespace()
    }

    fn shares_suffixes(&self, candidate: &Renamed, empty: Empty) -> bool {
        let (ours, theirs) = (&self.referrer.suffixes, &candidate.suffixes);
        if ours.is_empty() || theirs.is_empty() {
            return empty == Empty::Matches || ours.len() == theirs.len();
        }
        ours.iter().rev().zip(theirs.iter().rev()).all(|(our, their)| our == their)
    }
}

/// Whether an object without suffix fits one with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Empty {
    Matches,
    Differs,
}
