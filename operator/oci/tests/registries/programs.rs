//! Registries that run, and crane, which pushes to them.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command as AsyncCommand},
    time::timeout,
};

/// How long a registry may take to listen.
const START_DEADLINE: Duration = Duration::from_secs(30);

/// bcrypt of "correct horse", by htpasswd.
const PASSWORD_FILE: &str = "flux:$2b$04$7riTZ8dIZ92gO4xYLFDmceKSoYhTmHFMMQjuN1juDMmIKr3bb9rQC\n";

/// A registry that ends with the test.
pub(crate) struct Registry {
    pub(crate) address: String,
    _child: Child,
}

/// How Debian's registry is run.
#[derive(Default)]
pub(crate) struct Options {
    /// Files with the certificate and its key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    /// File with the authority of those who may ask.
    pub(crate) clients: Option<PathBuf>,
    pub(crate) wants_password: bool,
}

/// Whether the programs of a test are here; without one, says which test is skipped, past the capture of test output.
#[expect(clippy::explicit_write, reason = "eprintln! is captured, and a skipped test must be seen")]
pub(crate) fn has(programs: &[&str], test: &str) -> bool {
    let is_missing = |program: &&&str| {
        let found =
            Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
        !found.unwrap().success()
    };
    match programs.iter().find(is_missing) {
        Some(program) => {
            writeln!(std::io::stderr(), "SKIPPED {test}: {program} is not installed").unwrap();
            false
        }
        None => true,
    }
}

/// Debian's registry over a folder. It has no API for referrers.
pub(crate) async fn docker_registry(folder: &Path, options: &Options) -> Registry {
    let shown = folder.display();
    let mut config = format!(
        "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {shown}/storage}}}}\n\
         http:\n  addr: 127.0.0.1:0\n"
    );
    if let Some((certificate, key)) = &options.tls {
        config.extend([format!(
            "  tls:\n    certificate: {}\n    key: {}\n",
            certificate.display(),
            key.display()
        )]);
    }
    if let Some(clients) = &options.clients {
        config.extend([format!("    clientcas: [{}]\n", clients.display())]);
    }
    if options.wants_password {
        fs::write(folder.join("htpasswd"), PASSWORD_FILE).unwrap();
        config.extend([format!("auth: {{htpasswd: {{realm: flux, path: {shown}/htpasswd}}}}\n")]);
    }
    let path = folder.join("config.yaml");
    fs::write(&path, config).unwrap();
    let mut command = AsyncCommand::new("docker-registry");
    let mut child = command
        .arg("serve")
        .arg(path)
        .env("OTEL_TRACES_EXPORTER", "none")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = address(child.stderr.take().unwrap(), |line| {
        let (_, rest) = line.split_once("listening on ")?;
        Some(rest.split([',', '"', ' ']).next()?.to_owned())
    })
    .await;
    Registry { address, _child: child }
}

/// A registry that knows what refers to an artifact.
pub(crate) async fn registry_with_referrers() -> Registry {
    let program = build("registry");
    let mut command = AsyncCommand::new(program);
    // It ends when its input does.
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = address(child.stdout.take().unwrap(), |line| Some(line.trim().to_owned())).await;
    Registry { address, _child: child }
}

/// A registry of crane's, which does not know what refers to an artifact.
pub(crate) async fn registry_without_referrers() -> Registry {
    let mut command = AsyncCommand::new(build("crane"));
    let mut child = command
        .args(["registry", "serve", "--address", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = address(child.stderr.take().unwrap(), |line| {
        let (_, port) = line.split_once("serving on port ")?;
        Some(format!("127.0.0.1:{}", port.trim()))
    })
    .await;
    Registry { address, _child: child }
}

/// The two generations of cosign.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cosign {
    /// Signs under a tag that is made of the digest.
    Two,
    /// Signs by a bundle that refers to the artifact.
    Three,
}

impl Cosign {
    /// Makes a pair of keys in a folder.
    pub(crate) fn generate_keys(folder: &Path, name: &str) {
        let prefix = folder.join(name);
        run_cosign(
            Self::Three,
            folder,
            &["generate-key-pair", "--output-key-prefix", &prefix.to_string_lossy()],
        );
    }

    /// Signs with the key of that name, and with no service at all.
    pub(crate) fn sign(self, folder: &Path, name: &str, artifact: &str) {
        let key = folder.join(format!("{name}.key")).to_string_lossy().into_owned();
        let services = folder.join("services.json");
        fs::write(&services, r#"{"mediaType":"application/vnd.dev.sigstore.signingconfig.v0.2+json"}"#)
            .unwrap();
        let services = services.to_string_lossy().into_owned();
        let without_services = match self {
            Self::Two => vec!["--tlog-upload=false"],
            Self::Three => vec!["--signing-config", &services],
        };
        let arguments = [vec!["sign", "--yes", "--key", &key], without_services, vec![artifact]];
        run_cosign(self, folder, &arguments.concat());
    }
}

fn run_cosign(cosign: Cosign, home: &Path, arguments: &[&str]) {
    let program = match cosign {
        Cosign::Two => "cosign-legacy",
        Cosign::Three => "cosign",
    };
    let mut command = Command::new(build(program));
    let output = command.args(arguments).env("HOME", home).env("COSIGN_PASSWORD", "").output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs crane, whose settings are in a folder.
pub(crate) fn crane(settings: &Path, authority: Option<&Path>, arguments: &[&str]) -> String {
    let mut command = Command::new(build("crane"));
    command.args(arguments).env("DOCKER_CONFIG", settings);
    if let Some(authority) = authority {
        command.env("SSL_CERT_FILE", authority);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "crane {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Builds a program when it is missing.
fn build(program: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/tools/build.sh");
    let output = Command::new(script).arg(program).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{program} could not be built");
    String::from_utf8(output.stdout).unwrap().trim().into()
}

/// The first address in what a program says. What it says later is read and forgotten, or it would wait for a reader.
async fn address(
    output: impl tokio::io::AsyncRead + Unpin + Send + 'static,
    find: impl Fn(&str) -> Option<String>,
) -> String {
    let mut lines = BufReader::new(output).lines();
    let mut said = Vec::new();
    let found = timeout(START_DEADLINE, async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(address) = find(&line) {
                return Some(address);
            }
            said.push(line);
        }
        None
    })
    .await;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    found.ok().flatten().unwrap_or_else(|| panic!("the registry does not listen: {said:?}"))
}
