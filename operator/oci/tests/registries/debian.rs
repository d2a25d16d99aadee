//! Debian's registry: TLS of an authority of one's own, passwords, certificates of clients; no API for referrers.

use std::{fs, path::Path};

use operator_net::{ClientCertificate, Move, Trust};
use operator_oci::{
    ArtifactLimits, ArtifactRequest, Artifacts, Digest, FetchError, Keychain, Repository as _, Transport,
};
use tempfile::TempDir;

use crate::{
    layout,
    pki::{Authority, Certificate, Lifetime},
    programs::{Options, Registry, crane, docker_registry, has},
};

const PROGRAMS: [&str; 2] = ["docker-registry", "go"];

struct Bed {
    folder: TempDir,
    authority: Authority,
    digest: Digest,
}

impl Bed {
    /// An artifact in a folder that registries can be started over, pushed by TLS and password.
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let authority = Authority::new("flux test", Lifetime::Good);
        fs::write(folder.path().join("ca.crt"), &authority.pem).unwrap();
        let certificate = authority.sign(folder.path(), "push", Lifetime::Good);
        let bed = Self { digest: Digest::of(b""), folder, authority };
        let registry = bed.registry(&certificate, None).await;
        let (digest, _) = layout::write(&bed.path("layout"), &layout::archive(100), None);
        bed.crane(&["auth", "login", &registry.address, "-u", "flux", "-p", "correct horse"]);
        let tag = format!("{}/org/flux:v2", registry.address);
        bed.crane(&["push", &bed.path("layout").to_string_lossy(), &tag]);
        let index = format!("{}/org/flux:{}", registry.address, digest.tag(""));
        bed.crane(&["push", "--index", &bed.path("layout").to_string_lossy(), &index]);
        let archive = bed.path("plain.tgz");
        fs::write(&archive, layout::archive(50)).unwrap();
        let plain = format!("{}/org/flux:plain", registry.address);
        bed.crane(&["append", "--oci-empty-base", "-f", &archive.to_string_lossy(), "-t", &plain]);
        Self { digest, ..bed }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn crane(&self, arguments: &[&str]) -> String {
        crane(&self.path("crane"), Some(&self.path("ca.crt")), arguments)
    }

    async fn registry(&self, certificate: &Certificate, clients: Option<&Path>) -> Registry {
        let options = Options {
            tls: Some((certificate.certificate.clone(), certificate.key.clone())),
            clients: clients.map(Path::to_owned),
            wants_password: true,
        };
        docker_registry(self.folder.path(), &options).await
    }

    fn artifacts(&self) -> Artifacts {
        Artifacts::new(self.path("cache"), ArtifactLimits::default()).unwrap()
    }

    fn request(&self, registry: &Registry, rest: &str) -> ArtifactRequest {
        let mut keychain = Keychain::default();
        let host = &registry.address;
        let secret = format!(r#"{{"auths":{{"{host}":{{"username":"flux","password":"correct horse"}}}}}}"#);
        keychain.add_docker_config_json(secret.as_bytes()).unwrap();
        ArtifactRequest {
            reference: format!("oci://{host}/org/flux{rest}").parse().unwrap(),
            keychain,
            trust: Trust { authorities: self.authority.pem.clone().into_bytes(), identity: None },
            transport: Transport::Https,
            verifier: None,
        }
    }
}

fn refusal(result: Result<operator_oci::Fetched, FetchError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.next_move(), Move::User, "{}", error.message());
    error.message()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_comes_over_tls_of_a_named_authority_with_a_password() {
    if !has(&PROGRAMS, "an_artifact_comes_over_tls_of_a_named_authority_with_a_password") {
        return;
    }
    let bed = Bed::new().await;
    let good = bed.authority.sign(bed.folder.path(), "good", Lifetime::Good);
    let registry = bed.registry(&good, None).await;
    let (artifacts, request) = (bed.artifacts(), bed.request(&registry, ":v2"));
    let fetched = artifacts.fetch(&request, None).await.unwrap();
    assert_eq!(fetched.artifact().artifact().digest(), bed.digest);
    assert!(fetched.artifact().artifact().path().join("flux/v2.9.5/rbac.yaml").exists());
    let plain = artifacts.fetch(&bed.request(&registry, ":plain"), None).await.unwrap();
    assert!(plain.artifact().artifact().path().join("flux/v2.9.5/rbac.yaml").exists());

    let referrers = artifacts.repository(&request).unwrap().referrers(&bed.digest).await.unwrap();
    assert_eq!(referrers.iter().map(|found| found.digest).collect::<Vec<_>>(), [bed.digest]);
    let none = artifacts.repository(&request).unwrap().referrers(&Digest::of(b"x")).await.unwrap();
    assert!(none.is_empty());

    let message = refusal(artifacts.fetch(&bed.request(&registry, ":v3"), None).await);
    assert!(message.contains("the registry has no tag v3"), "{message}");
    let anonymous = ArtifactRequest { keychain: Keychain::default(), ..request.clone() };
    let message = refusal(artifacts.fetch(&anonymous, None).await);
    assert!(message.contains("it was told no credentials, check the pull secret"), "{message}");
    let mut wrong = Keychain::default();
    let secret =
        format!(r#"{{"auths":{{"{}":{{"username":"flux","password":"canary"}}}}}}"#, registry.address);
    wrong.add_docker_config_json(secret.as_bytes()).unwrap();
    let message =
        refusal(artifacts.fetch(&ArtifactRequest { keychain: wrong, ..request.clone() }, None).await);
    assert!(message.contains("it was told user and password") && !message.contains("canary"), "{message}");
    let stranger = ArtifactRequest { trust: Trust::default(), ..request };
    let message = refusal(artifacts.fetch(&stranger, None).await);
    assert!(message.contains("UnknownIssuer") && message.contains("artifactCertSecretRef"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_over_is_told() {
    if !has(&PROGRAMS, "a_certificate_that_is_over_is_told") {
        return;
    }
    let bed = Bed::new().await;
    let over = bed.authority.sign(bed.folder.path(), "over", Lifetime::Over);
    let registry = bed.registry(&over, None).await;
    let message = refusal(bed.artifacts().fetch(&bed.request(&registry, ":v2"), None).await);
    assert!(message.contains("certificate expired"), "{message}");
    let authority = Authority::new("old authority", Lifetime::Over);
    let signed = authority.sign(bed.folder.path(), "signed", Lifetime::Good);
    let registry = bed.registry(&signed, None).await;
    let mut request = bed.request(&registry, ":v2");
    request.trust.authorities = authority.pem.into_bytes();
    let message = refusal(bed.artifacts().fetch(&request, None).await);
    assert!(message.contains("CN=old authority ended at 2021-01-01T00:00:00Z"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_shows_its_certificate() {
    if !has(&PROGRAMS, "a_client_shows_its_certificate") {
        return;
    }
    let bed = Bed::new().await;
    let good = bed.authority.sign(bed.folder.path(), "good", Lifetime::Good);
    let client = bed.authority.sign(bed.folder.path(), "client", Lifetime::Good);
    let registry = bed.registry(&good, Some(&bed.path("ca.crt"))).await;
    let (artifacts, mut request) = (bed.artifacts(), bed.request(&registry, ":v2"));
    artifacts.fetch(&request, None).await.unwrap_err();
    request.trust.identity = Some(ClientCertificate {
        certificate: fs::read(client.certificate).unwrap(),
        key: fs::read(client.key).unwrap(),
    });
    artifacts.fetch(&request, None).await.unwrap();
}
