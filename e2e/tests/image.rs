//! The operator's image: what is in it, and that a registry takes and gives it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

/// crane, built when it is missing.
static CRANE: LazyLock<PathBuf> = LazyLock::new(|| e2e::block_on(e2e::crane()).unwrap());

/// A registry without TLS, on a port of loopback. Dropped, it ends.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    fn start() -> Self {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&*CRANE).args(["registry", "serve"]);
        command.args(["--address", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = lines
            .find_map(|line| line.unwrap().split_once("serving on port ").map(|(_, port)| port.to_owned()))
            .unwrap();
        // It would be ended by a log that nobody reads.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address: format!("127.0.0.1:{port}") }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_registry_takes_and_gives_an_image_that_runs() {
    let registry = Registry::start();
    let repository = format!("{}/team/flux-operator", registry.address);
    let printed = text(&build(&[&repository]));
    let version = env!("CARGO_PKG_VERSION");
    let digest = printed.trim_end().strip_prefix(&format!("{repository}:v{version}@")).unwrap();
    // The chart asks for the version without a `v`.
    for tag in [version.to_owned(), format!("v{version}")] {
        assert_eq!(crane(&["digest", &format!("{repository}:{tag}")]).trim_end(), digest);
    }

    let image = format!("{repository}@{digest}");
    let configuration: Value = serde_json::from_str(&crane(&["config", &image])).unwrap();
    let config = &configuration["config"];
    assert_eq!(config["User"], "65532:65532");
    assert_eq!(config["Entrypoint"], json!(["/usr/local/bin/flux-operator", "serve"]));
    assert_eq!(config["Labels"]["org.opencontainers.image.version"], version);
    assert_eq!(config["Labels"]["org.opencontainers.image.licenses"], "Apache-2.0");
    assert_eq!(config["Labels"]["org.opencontainers.image.source"], "https://example.com/source");

    let folder = tempfile::tempdir().unwrap();
    let (archive, root) = (folder.path().join("root.tar"), folder.path().join("root"));
    crane(&["export", &image, &archive.to_string_lossy()]);
    fs::create_dir(&root).unwrap();
    let mut unpack = Command::new("tar");
    text(
        &unpack.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(&root).output().unwrap(),
    );
    assert!(root.join("etc/ssl/certs/ca-certificates.crt").is_file());
    assert!(!root.join("etc/passwd").exists());
    // What the C library loads when it looks up a name: where it has files for that, they are there.
    let folder = find(&root, "libc.so").parent().unwrap().to_owned();
    let on_this_machine = Path::new("/").join(folder.strip_prefix(&root).unwrap());
    for library in ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"] {
        let is_there = [&folder, &on_this_machine].map(|folder| folder.join(library).is_file());
        assert_eq!(is_there[0], is_there[1], "{library}");
    }
    assert_eq!(text(&run_in(&root, &["version"])).trim_end(), format!("client: {version}"));
}

#[test]
fn the_same_binary_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let archives = ["first.tar", "second.tar"].map(|name| folder.path().join(name));
    let printed = archives.each_ref().map(|path| text(&build(&["localhost/x", &path.to_string_lossy()])));
    assert_eq!(printed[0], printed[1]);
    assert!(fs::read(&archives[0]).unwrap() == fs::read(&archives[1]).unwrap(), "the archives differ");
    let mut show = Command::new("tar");
    let index = text(
        &show
            .args(["--extract", "--to-stdout", "--file"])
            .arg(&archives[0])
            .arg("./index.json")
            .output()
            .unwrap(),
    );
    for tag in ["v", ""] {
        let name = format!("\"io.containerd.image.name\":\"localhost/x:{tag}{}\"", env!("CARGO_PKG_VERSION"));
        assert!(index.contains(&name), "{index}");
    }
}

#[test]
fn what_is_no_repository_is_refused() {
    for repository in ["", "Upper", "name:tag", "a b", "registry.example.com/\"x"] {
        let output = build(&[repository]);
        assert!(!output.status.success());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(&format!("'{repository}' is not a repository")), "{message}");
    }
}

fn build(arguments: &[&str]) -> Output {
    let mut command = Command::new(e2e_file("../operator/flux-operator/image/build.sh"));
    command
        .arg(e2e::operator_binary().unwrap())
        .args(arguments)
        .env("CRANE", &*CRANE)
        .env("COMPRESSION", if arguments.len() == 1 { "gzip" } else { "none" })
        .env("SOURCE", "https://example.com/source")
        .output()
        .unwrap()
}

/// Runs the operator of an unpacked image with nothing but what the image has; only root may do that entirely.
fn run_in(root: &Path, arguments: &[&str]) -> Output {
    let as_root = text(&Command::new("id").arg("--user").output().unwrap()).trim_end() == "0";
    let mut command;
    if as_root {
        command = Command::new("chroot");
        command.arg("--userspec=65532:65532").arg(root).arg("/usr/local/bin/flux-operator");
    } else {
        let libraries = find(root, "libc.so");
        command = Command::new(find(root, "ld-linux"));
        command.arg("--inhibit-cache").arg("--library-path").arg(libraries.parent().unwrap());
        command.arg(root.join("usr/local/bin/flux-operator"));
    }
    command.args(arguments).output().unwrap()
}

/// The file of an unpacked image whose name begins like that.
fn find(folder: &Path, prefix: &str) -> PathBuf {
    let output =
        Command::new("find").arg(folder).args(["-type", "f", "-name"]).arg(format!("{prefix}*")).output();
    text(&output.unwrap()).lines().next().unwrap().into()
}

fn crane(arguments: &[&str]) -> String {
    text(&Command::new(&*CRANE).args(arguments).output().unwrap())
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn e2e_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
