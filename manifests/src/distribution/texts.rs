use operator_guard::Files;
use serde_json::Value;
use thiserror::Error;

use super::{Distribution, DistributionError, Problem};
use crate::objects::{kind, name, split_api_version};

/// A distribution of YAML texts, such as the files of a folder.
#[derive(Clone, Debug)]
pub struct Texts<F>(pub F);

/// Why a text is no manifest.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum TextError {
    #[error(transparent)]
    Yaml(#[from] manifests_yaml::ReadError),
    #[error("the document at line {line} is not an object with apiVersion, kind and metadata.name")]
    NotAnObject { line: usize },
}

impl<F: Files> Texts<F> {
    fn parse<T>(
        &self,
        path: &str,
        parse: impl FnOnce(&str) -> Result<T, TextError>,
    ) -> Result<Option<T>, DistributionError> {
        let Some(text) = self.0.read(path).map_err(|source| self.error(path, Box::new(source)))? else {
            return Ok(None);
        };
        parse(&text).map(Some).map_err(|error| self.error(path, Box::new(error)))
    }

    fn error(&self, path: &str, source: Problem) -> DistributionError {
        DistributionError { file: format!("{path} of {}", self.0.origin()), source }
    }
}

impl<F: Files> Distribution for Texts<F> {
    fn origin(&self) -> &str {
        self.0.origin()
    }

    fn versions(&self) -> Result<Vec<String>, DistributionError> {
        self.0.folders("flux").map_err(|source| self.error("flux", Box::new(source)))
    }

    fn objects(&self, version: &str, file: &str) -> Result<Option<Vec<Value>>, DistributionError> {
        self.parse(&format!("flux/{version}/{file}.yaml"), objects)
    }

    fn images(&self, version: &str, variant: &str) -> Result<Option<Value>, DistributionError> {
        self.parse(&format!("flux-images/{version}/{variant}.yaml"), |text| {
            Ok(manifests_yaml::from_str(text)?)
        })
    }
}

fn objects(text: &str) -> Result<Vec<Value>, TextError> {
    let mut objects = Vec::new();
    for document in manifests_yaml::documents(text)? {
        let object = &document.value;
        if split_api_version(object).1.is_empty() || kind(object).is_empty() || name(object).is_empty() {
            return Err(TextError::NotAnObject { line: document.line });
        }
        objects.push(document.value);
    }
    Ok(objects)
}
