//! Changes to every object of a set: namespace, name suffix, labels, annotations.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::field_path::{Created, FieldSpec, Missing, WrongType, created, is_selected};
use crate::field_spec_table::{ANNOTATIONS, NAMESPACE, TEMPLATE_LABELS};
use crate::id::Id;
use crate::resources::{Resource, Resources};

/// Why objects cannot be changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// A value of the wrong type where an object of this kind has another.
    #[error("{object}: {path} is {found}, which its kind does not have there; correct the object")]
    WrongType {
        /// Which object.
        object: Box<Id>,
        /// Where, with `/` between the fields.
        path: String,
        /// What is there.
        found: &'static str,
    },
    /// The change gives two objects one id.
    #[error("two objects become {id}; rename one of them")]
    Duplicate {
        /// What both would be called.
        id: Box<Id>,
    },
    /// A reference that could mean several objects.
    #[error("{object}: {path} names `{name}`, which was the name of several objects: {}", list(.candidates))]
    AmbiguousReference {
        /// The object that holds the reference.
        object: Box<Id>,
        /// Where, with `/` between the fields.
        path: String,
        /// The name that is there.
        name: String,
        /// The objects that had this name.
        candidates: Vec<Id>,
    },
    /// An image name that cannot be matched.
    #[error("the image name `{name}` is no regular expression: {source}")]
    ImageName {
        /// The name to replace.
        name: String,
        /// What is wrong.
        source: regex::Error,
    },
}

fn list(ids: &[Id]) -> String {
    ids.iter().map(Id::to_string).collect::<Vec<_>>().join(", ")
}

/// Where labels and annotations go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only the metadata of the object itself.
    Metadata,
    /// The metadata of the object, and of the templates in workloads of built-in kinds.
    Templates,
}

const METADATA_LABELS: [FieldSpec; 1] = [created("", "", "", "metadata/labels")];
const METADATA_ANNOTATIONS: [FieldSpec; 1] = [created("", "", "", "metadata/annotations")];
const METADATA_NAMESPACE: FieldSpec = created("", "", "", "metadata/namespace");
const METADATA_NAME: &str = "metadata/name";

impl Resources {
    /// Moves every object into `namespace`, and names of `Namespace` objects too; built-in kinds without namespace stay.
    /// Role bindings follow: subjects named `default`, and subjects that are in the set. An empty text does nothing.
    ///
    /// # Errors
    ///
    /// When two objects become one, or an object does not have the shape of its kind.
    pub fn namespace(&mut self, namespace: &str) -> Result<(), TransformError> {
        if namespace.is_empty() {
            return Ok(());
        }
        for place in 0..self.list.len() {
            let Some(resource) = self.list.get_mut(place) else { continue };
            resource.remember_id();
            set_namespace(resource, namespace)?;
            let id = resource.id();
            if self.list.iter().filter(|other| other.id().is_same_object(&id)).count() > 1 {
                return Err(TransformError::Duplicate { id: Box::new(id) });
            }
        }
        self.fix_references()
    }

    /// Adds `suffix` to every name, and to the fields of built-in kinds that refer to these names. CRDs, API services
    /// and namespaces keep theirs. An empty text does nothing.
    ///
    /// # Errors
    ///
    /// When a reference could mean several objects, or an object does not have the shape of its kind.
    pub fn name_suffix(&mut self, suffix: &str) -> Result<(), TransformError> {
        if suffix.is_empty() {
            return Ok(());
        }
        for resource in &mut self.list {
            if keeps_its_name(&resource.original_id()) {
                continue;
            }
            resource.suffixes.push(suffix.to_owned());
            resource.remember_id();
            if let Some(Value::String(name)) = resource.value.pointer_mut("/metadata/name") {
                name.push_str(suffix);
            }
        }
        self.fix_references()
    }

    /// Sets labels on every object; selectors are left alone.
    ///
    /// # Errors
    ///
    /// When an object does not have the shape of its kind.
    pub fn labels(&mut self, labels: &BTreeMap<String, String>, reach: Reach) -> Result<(), TransformError> {
        match reach {
            Reach::Metadata => self.set_entries(labels, &METADATA_LABELS),
            Reach::Templates => self.set_entries(labels, &TEMPLATE_LABELS),
        }
    }

    /// Sets annotations on every object. kustomize's `commonAnnotations` reaches the templates.
    ///
    /// # Errors
    ///
    /// When an object does not have the shape of its kind.
    pub fn annotations(
        &mut self,
        annotations: &BTreeMap<String, String>,
        reach: Reach,
    ) -> Result<(), TransformError> {
        match reach {
            Reach::Metadata => self.set_entries(annotations, &METADATA_ANNOTATIONS),
            Reach::Templates => self.set_entries(annotations, &ANNOTATIONS),
        }
    }

    fn set_entries(
        &mut self,
        entries: &BTreeMap<String, String>,
        specs: &[FieldSpec],
    ) -> Result<(), TransformError> {
        if entries.is_empty() {
            return Ok(());
        }
        for resource in &mut self.list {
            let id = resource.id();
            for spec in specs.iter().filter(|spec| spec.is_for(&id)) {
                visit(resource, &id, spec, Created::Map, &mut |place| {
                    let wrong = spec.wrong_type(place);
                    let fields = place.as_object_mut().ok_or(wrong)?;
                    for (name, text) in entries {
                        fields.insert(name.clone(), Value::String(text.clone()));
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

fn set_namespace(resource: &mut Resource, namespace: &str) -> Result<(), TransformError> {
    let id = resource.id();
    let mut set = |spec: &FieldSpec| {
        visit(resource, &id, spec, Created::Text, &mut |place| {
            if place.is_object() || place.is_array() {
                return Err(spec.wrong_type(place));
            }
            *place = Value::String(namespace.to_owned());
            Ok(())
        })
    };
    if !id.is_cluster_scoped() {
        set(&METADATA_NAMESPACE)?;
    }
    for spec in NAMESPACE.iter().filter(|spec| spec.is_for(&id)) {
        // Another API may have a kind Namespace whose name is its own.
        if spec.path != METADATA_NAME || id.api_version() == "v1" {
            set(spec)?;
        }
    }
    if id.kind == "RoleBinding" || id.kind == "ClusterRoleBinding" {
        set_default_subjects(&mut resource.value, namespace).map_err(|wrong| wrong_type(&id, wrong))?;
    }
    Ok(())
}

/// Subjects named `default` mean the account that every namespace has.
fn set_default_subjects(binding: &mut Value, namespace: &str) -> Result<(), WrongType> {
    let Some(subjects) = binding.get_mut("subjects").filter(|subjects| !subjects.is_null()) else {
        return Ok(());
    };
    let spec = FieldSpec { path: "subjects", missing: Missing::Leave, ..METADATA_NAMESPACE };
    let wrong = spec.wrong_type(subjects);
    for subject in subjects.as_array_mut().ok_or(wrong)? {
        let wrong = spec.wrong_type(subject);
        let fields = subject.as_object_mut().ok_or(wrong)?;
        if fields.get("name").and_then(Value::as_str) == Some("default") {
            fields.insert("namespace".to_owned(), Value::String(namespace.to_owned()));
        }
    }
    Ok(())
}

fn keeps_its_name(id: &Id) -> bool {
    is_selected(id, "", "", "CustomResourceDefinition")
        || is_selected(id, "apiregistration.k8s.io", "", "APIService")
        || is_selected(id, "", "", "Namespace")
}

fn visit(
    resource: &mut Resource,
    id: &Id,
    spec: &FieldSpec,
    created: Created,
    change: &mut impl FnMut(&mut Value) -> Result<(), WrongType>,
) -> Result<(), TransformError> {
    spec.visit(&mut resource.value, created, change).map_err(|wrong| wrong_type(id, wrong))
}

pub(crate) fn wrong_type(object: &Id, wrong: WrongType) -> TransformError {
    TransformError::WrongType { object: Box::new(object.clone()), path: wrong.path, found: wrong.found }
}
