use manifests_flux::{File, Release, releases};
use serde_json::Value;

use super::{Distribution, DistributionError};

/// The distribution inside the operator: no network, no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedded;

impl Distribution for Embedded {
    fn origin(&self) -> &'static str {
        "embedded"
    }

    fn versions(&self) -> Result<Vec<String>, DistributionError> {
        Ok(releases().iter().map(|release| release.version.to_owned()).collect())
    }

    fn objects(&self, version: &str, file: &str) -> Result<Option<Vec<Value>>, DistributionError> {
        parse(version, find(version, |release| release.files, file))
    }

    fn images(&self, version: &str, variant: &str) -> Result<Option<Value>, DistributionError> {
        let documents: Option<Vec<Value>> = parse(version, find(version, |release| release.images, variant))?;
        Ok(documents.and_then(|documents| documents.into_iter().next()))
    }
}

fn find(
    version: &str,
    files: impl Fn(&'static Release) -> &'static [File],
    name: &str,
) -> Option<&'static File> {
    let release = releases().iter().find(|release| release.version == version)?;
    files(release).iter().find(|file| file.name == name)
}

fn parse<T: serde::de::DeserializeOwned>(
    version: &str,
    file: Option<&File>,
) -> Result<Option<T>, DistributionError> {
    let Some(file) = file else { return Ok(None) };
    serde_json::from_str(file.json).map(Some).map_err(|error| DistributionError {
        file: format!("{version}/{} inside flux-operator", file.name),
        source: Box::new(error),
    })
}
