//! The programs that images hold.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::BedError;
use crate::operator::operator_binary;
use crate::programs;

/// An image whose pods run for real.
#[derive(Debug, Clone)]
pub struct Image {
    /// The last part of its name, such as `source-controller`.
    pub(crate) name: &'static str,
    /// The program in it.
    pub(crate) executable: PathBuf,
    /// Arguments that the entrypoint has, before those of the container.
    pub(crate) entrypoint: &'static [&'static str],
    /// Its listening addresses: flag and port.
    listens: &'static [(&'static str, u16)],
    /// Whether it keeps artifacts, and hands them out.
    stores: Stores,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stores {
    Nothing,
    Artifacts,
}

/// Ports of the controllers of Flux, as their manifests name them.
const CONTROLLER_PORTS: &[(&str, u16)] = &[("--metrics-addr", 8080), ("--health-addr", 9440)];

impl Image {
    /// The image of the operator: the binary of this build, as the image has it.
    ///
    /// # Errors
    /// [`BedError::NoOperator`] if it was not built.
    pub fn operator() -> Result<Self, BedError> {
        Ok(Self {
            name: "flux-operator",
            executable: operator_binary()?,
            entrypoint: &["serve"],
            listens: &[("--metrics-addr", 8080), ("--health-addr", 8081)],
            stores: Stores::Nothing,
        })
    }

    /// The images of Flux that can be built from their modules: source-, kustomize- and helm-controller.
    ///
    /// # Errors
    /// [`BedError`] if they cannot be built.
    pub async fn flux_controllers() -> Result<Vec<Self>, BedError> {
        let folder = programs::flux_controllers().await?;
        let image = |name, stores| Self {
            name,
            executable: folder.join(name),
            entrypoint: &[],
            listens: CONTROLLER_PORTS,
            stores,
        };
        Ok(vec![
            image("source-controller", Stores::Artifacts),
            image("kustomize-controller", Stores::Nothing),
            image("helm-controller", Stores::Nothing),
        ])
    }

    /// The last part of its name, such as `source-controller`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a reference such as `ghcr.io/fluxcd/source-controller:v1.9.5` means this image.
    pub(crate) fn is_named_by(&self, reference: &str) -> bool {
        let last = reference.rsplit('/').next().unwrap_or_default();
        last.split([':', '@']).next() == Some(self.name)
    }

    /// What makes its server listen on the pod's address: appended, because the last flag of a name counts.
    pub(crate) fn overrides(&self, address: IpAddr, folder: &Path) -> Vec<String> {
        let mut flags: Vec<String> =
            self.listens.iter().map(|(flag, port)| format!("{flag}={address}:{port}")).collect();
        if self.entrypoint.is_empty() {
            // Events go to a service, and services lead nowhere; the namespace of an election is read from a
            // file that only a container has.
            flags.extend(["--events-addr=", "--enable-leader-election=false"].map(str::to_owned));
        }
        if self.stores == Stores::Artifacts {
            flags.push(format!("--storage-path={}", folder.join("data").display()));
            flags.push(format!("--storage-addr={address}:9090"));
            flags.push(format!("--storage-adv-addr={address}:9090"));
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_told_by_the_last_part_of_its_name() {
        let image = Image {
            name: "source-controller",
            executable: PathBuf::new(),
            entrypoint: &[],
            listens: CONTROLLER_PORTS,
            stores: Stores::Artifacts,
        };
        for reference in [
            "ghcr.io/fluxcd/source-controller:v1.9.5",
            "localhost:5000/source-controller@sha256:0123",
            "source-controller",
        ] {
            assert!(image.is_named_by(reference), "{reference}");
        }
        for reference in ["ghcr.io/source-controller/other:v1", "my-source-controller:v1", ""] {
            assert!(!image.is_named_by(reference), "{reference}");
        }
        let flags = image.overrides([127, 0, 0, 9].into(), Path::new("/pod"));
        assert_eq!(
            flags,
            [
                "--metrics-addr=127.0.0.9:8080",
                "--health-addr=127.0.0.9:9440",
                "--events-addr=",
                "--enable-leader-election=false",
                "--storage-path=/pod/data",
                "--storage-addr=127.0.0.9:9090",
                "--storage-adv-addr=127.0.0.9:9090",
            ]
        );
    }
}
