//! Other names, tags and digests for container images.

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::field_path::{Created, WrongType};
use crate::field_spec_table::IMAGES;
use crate::id::Id;
use crate::limits::MAX_COMPILED_PATTERN_BYTES;
use crate::measure::type_name;
use crate::resources::Resources;
use crate::transform::{TransformError, wrong_type};

/// What to make of an image. Empty fields change nothing; a tag without digest drops the digest, and the reverse.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Image {
    /// The image without tag and digest, for example `ghcr.io/fluxcd/source-controller`. A regular expression, as in
    /// kustomize: dots match any character.
    pub name: String,
    /// The name to use instead.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub new_name: String,
    /// The tag to use.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub new_tag: String,
    /// The digest to use, for example `sha256:...`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

impl Resources {
    /// Renames images wherever an object has `containers` or `initContainers`, and in image volumes of pods. CRDs are
    /// left alone. The images apply one after the other.
    ///
    /// # Errors
    ///
    /// When a name is no regular expression, or a container has an `image` that is no text.
    pub fn images(&mut self, images: &[Image]) -> Result<(), TransformError> {
        for image in images {
            let renaming = Renaming::new(image)?;
            for resource in &mut self.list {
                let id = resource.id();
                if id.kind != "CustomResourceDefinition" {
                    renaming.apply(&mut resource.value, &id).map_err(|wrong| wrong_type(&id, wrong))?;
                }
            }
        }
        Ok(())
    }
}

struct Renaming<'a> {
    image: &'a Image,
    pattern: Regex,
}

impl<'a> Renaming<'a> {
    fn new(image: &'a Image) -> Result<Self, TransformError> {
        let text = format!("^{}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", image.name);
        let pattern = RegexBuilder::new(&text).size_limit(MAX_COMPILED_PATTERN_BYTES).build();
        let pattern =
            pattern.map_err(|source| TransformError::ImageName { name: image.name.clone(), source })?;
        Ok(Self { image, pattern })
    }

    fn apply(&self, object: &mut Value, id: &Id) -> Result<(), WrongType> {
        self.in_containers(object)?;
        for spec in &IMAGES {
            if spec.is_for(id) {
                spec.visit(object, Created::Nothing, &mut |place| self.rename(place))?;
            }
        }
        Ok(())
    }

    /// Any list called `containers` or `initContainers`, at any depth.
    fn in_containers(&self, value: &mut Value) -> Result<(), WrongType> {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.in_containers(field)?;
                    let Value::Array(containers) = field else { continue };
                    if name != "containers" && name != "initContainers" {
                        continue;
                    }
                    for container in containers {
                        let Value::Object(container) = container else {
                            return Err(WrongType { path: name.clone(), found: type_name(container) });
                        };
                        container.get_mut("image").map_or(Ok(()), |image| self.rename(image))?;
                    }
                }
                Ok(())
            }
            Value::Array(elements) => elements.iter_mut().try_for_each(|element| self.in_containers(element)),
            _ => Ok(()),
        }
    }

    fn rename(&self, place: &mut Value) -> Result<(), WrongType> {
        match place {
            Value::String(text) => {
                if self.pattern.is_match(text) {
                    *text = self.renamed(text);
                }
                Ok(())
            }
            Value::Object(_) | Value::Array(_) => {
                Err(WrongType { path: "image".to_owned(), found: type_name(place) })
            }
            _ => Ok(()),
        }
    }

    fn renamed(&self, text: &str) -> String {
        let (mut name, mut tag, mut digest) = split(text);
        if !self.image.new_name.is_empty() {
            name = &self.image.new_name;
        }
        if !self.image.new_tag.is_empty() || !self.image.digest.is_empty() {
            (tag, digest) = (&self.image.new_tag, &self.image.digest);
        }
        let mut renamed = name.to_owned();
        for (mark, part) in [(':', tag), ('@', digest)] {
            if !part.is_empty() {
                renamed.push(mark);
                renamed.push_str(part);
            }
        }
        renamed
    }
}

/// Splits an image into name, tag and digest. The port of a registry is part of the name.
fn split(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
    // Only what follows the first slash can hold a tag; without a slash, all of it.
    let path_starts = rest.find('/').unwrap_or(0);
    let colon = rest.bytes().enumerate().skip(path_starts).find(|(_, byte)| *byte == b':');
    match colon.and_then(|(place, _)| rest.split_at_checked(place)) {
        Some((name, tag)) => (name, tag.strip_prefix(':').unwrap_or(tag), digest),
        None => (rest, "", digest),
    }
}
