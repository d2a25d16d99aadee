//! Keys, certificates and the administrator's token of one control plane.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use k8s_openapi::ByteString;
use serde_json::json;

use crate::BedError;
use crate::parts::{
    ACCOUNT_KEY, ACCOUNT_PUBLIC_KEY, AUTHORITY, CERTIFICATE, CERTIFICATE_KEY, KUBECONFIG, TOKENS,
};
use crate::state::StateFolder;

const AUTHORITY_KEY: &str = "authority.key";
const SETTINGS: &str = "openssl.cnf";
/// Writes all files that the parts read.
pub(crate) fn write(state: &StateFolder, port: u16) -> Result<(), BedError> {
    // Elliptic curves, because making an RSA key takes up to half a second.
    #[rustfmt::skip]
    openssl(state, ACCOUNT_KEY, &["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", ACCOUNT_KEY])?;
    openssl(state, ACCOUNT_PUBLIC_KEY, &["ec", "-in", ACCOUNT_KEY, "-pubout", "-out", ACCOUNT_PUBLIC_KEY])?;
    certificates(state)?;
    let token = token()?;
    state.write(TOKENS, &format!("{token},admin,admin,system:masters\n"))?;
    state.write(KUBECONFIG, &kubeconfig(&state.path().join(AUTHORITY), port, &token)?)
}

/// Makes an authority and the API server's certificate: rustls takes no certificate that is its own authority.
fn certificates(state: &StateFolder) -> Result<(), BedError> {
    const NEW: [&str; 10] =
        ["req", "-x509", "-config", SETTINGS, "-days", "30", "-nodes", "-newkey", "ec", "-pkeyopt"];
    const CURVE: &str = "ec_paramgen_curve:prime256v1";
    state.write(SETTINGS, include_str!("openssl.cnf"))?;
    let authority = [
        CURVE,
        "-extensions",
        "authority",
        "-subj",
        "/CN=bed-authority",
        "-keyout",
        AUTHORITY_KEY,
        "-out",
        AUTHORITY,
    ];
    openssl(state, AUTHORITY, &[&NEW[..], &authority].concat())?;
    #[rustfmt::skip]
    let server = [
        CURVE, "-extensions", "server", "-subj", "/CN=kube-apiserver", "-CA", AUTHORITY, "-CAkey", AUTHORITY_KEY,
        "-keyout", CERTIFICATE_KEY, "-out", CERTIFICATE,
    ];
    openssl(state, CERTIFICATE, &[&NEW[..], &server].concat())
}

/// The administrator's kubeconfig, without references to files: tests put it into Secrets.
fn kubeconfig(authority: &Path, port: u16, token: &str) -> Result<String, BedError> {
    let failed = |source| BedError::State { path: authority.to_owned(), source };
    let authority = std::fs::read(authority).map_err(failed)?;
    let server = format!("https://127.0.0.1:{port}");
    let content = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "bed",
            "cluster": {"server": server, "certificate-authority-data": ByteString(authority)},
        }],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": "admin"}}],
        "current-context": "bed",
    });
    Ok(format!("{content:#}\n"))
}

/// The administrator's token, which is random because others on the machine can reach the port.
fn token() -> Result<String, BedError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|error| BedError::State { path: source.to_owned(), source: error })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Runs openssl in the state folder to write a file.
fn openssl(state: &StateFolder, file: &str, arguments: &[&str]) -> Result<(), BedError> {
    let output = Command::new("openssl")
        .args(arguments)
        .current_dir(state.path())
        .stdin(Stdio::null())
        .output()
        .map_err(|source| BedError::Run { program: "openssl".into(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(BedError::Keys { file: state.path().join(file), exit: output.status, message })
}
