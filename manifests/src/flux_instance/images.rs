//! Which image every controller runs: registry, tag and digest.

use crds::flux_instance::{Component, ComponentImage, Distribution, DistributionVariant};
use manifests_kustomize::Image;
use serde_json::Value;

use super::{BuildWarning, InvalidField, controllers::MANAGER};
use crate::{distribution::Release, objects};

/// The registry that the manifests of a distribution name.
const MANIFEST_REGISTRY: &str = "fluxcd";

/// What a bare repository name stands for.
const DOCKER_HUB: &str = "index.docker.io";

/// The registries whose images are known by digest.
const KNOWN_REGISTRIES: [(&str, DistributionVariant); 5] = [
    ("fluxcd", DistributionVariant::UpstreamAlpine),
    ("ghcr.io/fluxcd", DistributionVariant::UpstreamAlpine),
    ("ghcr.io/controlplaneio-fluxcd/alpine", DistributionVariant::EnterpriseAlpine),
    ("ghcr.io/controlplaneio-fluxcd/distroless", DistributionVariant::EnterpriseDistroless),
    ("ghcr.io/controlplaneio-fluxcd/distroless-fips", DistributionVariant::EnterpriseDistrolessFips),
];

/// The registries of the AWS Marketplace, one a region, all of one account: they hold the distroless images.
const AWS_MARKETPLACE: &str = "709825985650.dkr.ecr.";

/// The variant that the registry holds: as declared, or as known.
pub(super) fn variant(distribution: &Distribution) -> Option<DistributionVariant> {
    let registry = registry(distribution);
    let known = || KNOWN_REGISTRIES.iter().find(|(known, _)| *known == registry).map(|(_, variant)| *variant);
    let marketplace =
        || registry.starts_with(AWS_MARKETPLACE).then_some(DistributionVariant::EnterpriseDistroless);
    distribution.variant.or_else(known).or_else(marketplace)
}

/// The changes of image names that bring the controllers of a release to the registry of an instance.
pub(super) fn pins(
    distribution: &Distribution,
    release: &Release,
    warnings: &mut Vec<BuildWarning>,
) -> Result<Vec<Image>, InvalidField> {
    let registry = registry(distribution);
    check_registry(registry)?;
    if registry.is_empty() {
        return Ok(Vec::new());
    }
    let pin = |component: &Component| {
        let pins = release.images.as_deref().unwrap_or_default();
        pins.iter().find(|pin| pin.component == component.as_str())
    };
    let components: Vec<Component> = release.components.iter().map(|(component, _)| *component).collect();
    let is_complete = components.iter().all(|component| pin(component).is_some());
    if release.images.is_some() && !is_complete {
        let missing = components.iter().filter(|component| pin(component).is_none()).copied().collect();
        warnings.push(BuildWarning::IncompleteImageList { missing });
    }
    let image = |component: &Component| {
        let pin = pin(component).filter(|_| is_complete);
        Image {
            name: format!("{MANIFEST_REGISTRY}/{component}"),
            new_name: format!("{registry}/{component}"),
            new_tag: pin.and_then(|pin| pin.tag.clone()).unwrap_or_default(),
            digest: pin.and_then(|pin| pin.digest.clone()).unwrap_or_default(),
        }
    };
    Ok(components.iter().map(image).collect())
}

/// The images that built Deployments run, patches included.
pub(super) fn of_deployments(objects: &[Value]) -> Vec<ComponentImage> {
    let deployments = objects.iter().filter(|object| objects::kind(object) == "Deployment");
    deployments
        .filter_map(|deployment| Some(component_image(deployment, manager_image(deployment)?)))
        .collect()
}

fn manager_image(deployment: &Value) -> Option<&str> {
    let containers = deployment.pointer("/spec/template/spec/containers")?.as_array()?;
    containers.iter().find(|container| container["name"] == MANAGER)?.get("image")?.as_str()
}

fn component_image(deployment: &Value, image: &str) -> ComponentImage {
    let (rest, digest) = match image.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest.to_owned())),
        None => (image, None),
    };
    // A colon before the last slash is a port.
    let (repository, tag) = match rest.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, tag),
        _ => (rest, "latest"),
    };
    ComponentImage {
        name: objects::name(deployment).to_owned(),
        repository: with_host(repository),
        tag: tag.to_owned(),
        digest,
    }
}

fn with_host(repository: &str) -> String {
    let is_host = |part: &str| part.contains(['.', ':']) || part == "localhost";
    match repository.split_once('/') {
        Some((first, _)) if is_host(first) => repository.to_owned(),
        Some(_) => format!("{DOCKER_HUB}/{repository}"),
        None => format!("{DOCKER_HUB}/library/{repository}"),
    }
}

fn registry(distribution: &Distribution) -> &str {
    distribution.registry.trim_end_matches('/')
}

fn check_registry(registry: &str) -> Result<(), InvalidField> {
    let field = "spec.distribution.registry";
    if registry.contains("://") {
        return Err(InvalidField::new(
            field,
            "must be a registry and path without a scheme, such as ghcr.io/fluxcd",
        ));
    }
    // The value is not repeated: what is before the sign may be a password.
    if registry.contains('@') {
        return Err(InvalidField::new(
            field,
            "must not have credentials or a digest in it: name a Secret in spec.distribution.imagePullSecret",
        ));
    }
    let (host, path) = registry.split_once('/').unwrap_or((registry, ""));
    let is_host_character =
        |character: char| character.is_ascii_alphanumeric() || ".-:[]_".contains(character);
    let is_path_character = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || "._-/".contains(character)
    };
    if (host.is_empty() && !path.is_empty())
        || !host.chars().all(is_host_character)
        || !path.chars().all(is_path_character)
        || path.split('/').any(str::is_empty) && !path.is_empty()
    {
        return Err(InvalidField::new(
            field,
            format!(
                "'{registry}' is not a registry and path in small letters, such as ghcr.io/fluxcd or registry.example.com:5000/flux"
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{check_registry, of_deployments};

    fn image_of(image: &str) -> (String, String, Option<String>) {
        let containers = json!([{"name": "sidecar", "image": "x"}, {"name": "manager", "image": image}]);
        let deployment = json!({
            "kind": "Deployment",
            "metadata": {"name": "source-controller"},
            "spec": {"template": {"spec": {"containers": containers}}}
        });
        let images = of_deployments(&[deployment]);
        assert_eq!(images[0].name, "source-controller");
        (images[0].repository.clone(), images[0].tag.clone(), images[0].digest.clone())
    }

    #[test]
    fn images_are_split_into_repository_tag_and_digest() {
        let split = |repository: &str, tag: &str, digest: Option<&str>| {
            (repository.to_owned(), tag.to_owned(), digest.map(str::to_owned))
        };
        assert_eq!(image_of("ghcr.io/fluxcd/a:v1"), split("ghcr.io/fluxcd/a", "v1", None));
        assert_eq!(
            image_of("localhost:5000/a:v1@sha256:ab"),
            split("localhost:5000/a", "v1", Some("sha256:ab"))
        );
        assert_eq!(image_of("localhost:5000/a"), split("localhost:5000/a", "latest", None));
        assert_eq!(image_of("fluxcd/a:v1"), split("index.docker.io/fluxcd/a", "v1", None));
        assert_eq!(image_of("a"), split("index.docker.io/library/a", "latest", None));
    }

    #[test]
    fn registries_are_checked() {
        for good in ["", "fluxcd", "ghcr.io/fluxcd", "localhost:5000", "reg:5000/a/b-c_d", "[::1]:5000/flux"]
        {
            assert!(check_registry(good).is_ok(), "{good}");
        }
        for bad in [
            "https://ghcr.io/fluxcd",
            "ghcr.io/Flux",
            "ghcr.io/a b",
            "/flux",
            "ghcr.io//a",
            "a/b:tag",
            "ghcr.io/a@x",
        ] {
            assert!(check_registry(bad).is_err(), "{bad}");
        }
    }
}
