//! A real Git server: `git http-backend` behind HTTP, for sources that the controllers of Flux follow.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::{AbortHandle, JoinSet};

use crate::command::{isolated, run};

/// One answer of `git http-backend`, and one command on a repository.
const GIT_DEADLINE: Duration = Duration::from_mins(1);

/// A step of serving or writing a repository that failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no address to listen on.
    #[error("failed to listen on {address}")]
    Listen {
        /// The address.
        address: IpAddr,
        /// The cause.
        source: io::Error,
    },
    /// A file of a repository could not be written.
    #[error("failed to write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Git could not be run, or took too long.
    #[error("failed to run git {arguments}")]
    Run {
        /// Its arguments.
        arguments: String,
        /// The cause.
        source: io::Error,
    },
    /// Git refused.
    #[error("git {arguments} failed: {message}")]
    Refused {
        /// Its arguments.
        arguments: String,
        /// What it said.
        message: String,
    },
}

/// A running Git server with repositories of its own. Dropped, it ends and they are gone.
#[derive(Debug)]
pub struct GitServer {
    address: SocketAddr,
    folder: TempDir,
    task: AbortHandle,
}

impl GitServer {
    /// Starts a server on loopback, on the current runtime.
    ///
    /// # Errors
    /// [`GitError::Listen`] if there is no port.
    pub async fn start() -> Result<Self, GitError> {
        Self::start_at(Ipv4Addr::LOCALHOST.into()).await
    }

    /// Starts a server on an address of this machine, on the current runtime.
    ///
    /// # Errors
    /// [`GitError::Listen`] if it cannot be had.
    pub async fn start_at(address: IpAddr) -> Result<Self, GitError> {
        let failed = |source| GitError::Listen { address, source };
        let folder = tempfile::Builder::new().prefix("flux-operator-git-").tempdir().map_err(failed)?;
        let listener = TcpListener::bind((address, 0)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let task = tokio::spawn(accept(listener, folder.path().into())).abort_handle();
        Ok(Self { address, folder, task })
    }

    /// Where a repository is found, such as `http://127.0.0.1:1234/fleet.git`.
    #[must_use]
    pub fn url(&self, repository: &str) -> String {
        format!("http://{}/{repository}.git", self.address)
    }

    /// Makes a commit that has exactly these files, paths and contents, and gives its hash. The repository and
    /// the branch are made when they do not exist.
    ///
    /// # Errors
    /// [`GitError`] says which step failed.
    pub async fn commit(
        &self,
        repository: &str,
        branch: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<String, GitError> {
        let bare = self.folder.path().join(format!("{repository}.git"));
        if !bare.exists() {
            git(self.folder.path(), &["init", "--quiet", "--bare", &bare.to_string_lossy()]).await?;
        }
        let tree = tempfile::tempdir_in(self.folder.path())
            .map_err(|source| GitError::Write { path: self.folder.path().to_owned(), source })?;
        for (name, content) in files {
            write(&tree.path().join(name), content)?;
        }
        let repository = format!("--git-dir={}", bare.display());
        let tree = format!("--work-tree={}", tree.path().display());
        let head = format!("refs/heads/{branch}");
        git(&bare, &[&repository, "symbolic-ref", "HEAD", &head]).await?;
        git(&bare, &[&repository, &tree, "add", "--all", "--force", "."]).await?;
        git(&bare, &[&repository, &tree, "commit", "--quiet", "--allow-empty", "--message", "change"])
            .await?;
        git(&bare, &[&repository, "rev-parse", "HEAD"]).await
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn write(path: &Path, content: &str) -> Result<(), GitError> {
    let failed = |source| GitError::Write { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, content).map_err(failed)
}

/// Runs git in a folder, and gives what it printed.
async fn git(folder: &Path, arguments: &[&str]) -> Result<String, GitError> {
    let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let mut command = command();
    command.args(arguments).envs(names.map(|name| (name, "bed@example.com"))).current_dir(folder);
    let words = || arguments.join(" ");
    let output = run(&mut command, &[], GIT_DEADLINE)
        .await
        .map_err(|source| GitError::Run { arguments: words(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Refused { arguments: words(), message })
}

/// Git without the settings of whoever runs the tests.
fn command() -> Command {
    let mut command = isolated("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

async fn accept(listener: TcpListener, folder: Arc<Path>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let folder = folder.clone();
                connections.spawn(async move {
                    let service = service_fn(|request| serve(folder.clone(), request));
                    // An error is a client that went away.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(folder: Arc<Path>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = match ask(&folder, request).await {
        Ok(output) => answer(&output.stdout),
        Err(error) => failure(&error.to_string()),
    };
    Ok(answer)
}

/// Hands a request to git as its interface for web servers (CGI) has it.
async fn ask(folder: &Path, request: Request<Incoming>) -> io::Result<Output> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut command = command();
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", head.method.as_str())
        .env("PATH_INFO", head.uri.path())
        .env("QUERY_STRING", head.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", text("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", text("content-encoding"))
        .env("GIT_PROTOCOL", text("git-protocol"));
    run(&mut command, &body, GIT_DEADLINE).await
}

/// The answer that a program wrote: lines of headers, an empty line, the body.
fn answer(output: &[u8]) -> Response<Full<Bytes>> {
    let Some(end) = output.windows(4).position(|window| window == b"\r\n\r\n") else {
        return failure("git http-backend gave no answer");
    };
    let (head, body) = (&output[..end], &output[end + 4..]);
    let mut response = Response::builder();
    for line in String::from_utf8_lossy(head).lines() {
        let Some((name, value)) = line.split_once(": ") else { continue };
        if name == "Status" {
            response = response.status(value.split(' ').next().unwrap_or_default());
        } else {
            response = response.header(name, value);
        }
    }
    response.body(Bytes::copy_from_slice(body).into()).unwrap_or_else(|error| failure(&error.to_string()))
}

fn failure(message: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(message.to_owned().into());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(content: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("apps/web/config.yaml".to_owned(), content.to_owned())])
    }

    #[tokio::test]
    async fn a_repository_is_cloned_at_its_newest_commit() {
        let server = GitServer::start().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let first = server.commit("fleet", "main", &files("one")).await.unwrap();
        let second = server.commit("fleet", "main", &files("two")).await.unwrap();
        assert_ne!(first, second);

        let url = server.url("fleet");
        git(folder.path(), &["clone", "--quiet", "--branch", "main", &url, "copy"]).await.unwrap();
        let copy = folder.path().join("copy");
        assert_eq!(std::fs::read_to_string(copy.join("apps/web/config.yaml")).unwrap(), "two");
        assert_eq!(git(&copy, &["rev-parse", "HEAD"]).await.unwrap(), second);
        assert_eq!(git(&copy, &["rev-parse", "HEAD^"]).await.unwrap(), first);
    }

    #[tokio::test]
    async fn an_unknown_repository_is_refused() {
        let server = GitServer::start().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let error = git(folder.path(), &["clone", &server.url("absent"), "copy"]).await.unwrap_err();
        assert!(error.to_string().contains("not found"), "{error}");
    }
}
