//! A registry with its token service, which does what a test wants of it, and remembers what it was asked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use operator_oci::Digest;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// How many bytes come before the connection ends; all where it is none.
    cut: Option<usize>,
    /// Whether the connection stays open after that.
    hangs: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), cut: None, hangs: false }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn cut(self, count: usize) -> Self {
        Self { cut: Some(count), ..self }
    }

    pub(crate) fn hang_after(self, count: usize) -> Self {
        Self { cut: Some(count), hangs: true, ..self }
    }
}

type Answer = Box<dyn FnMut(&Asked) -> Option<Reply> + Send>;

/// What a registry has: manifests by tag and digest, blobs by digest.
#[derive(Clone, Default)]
pub(crate) struct Content(BTreeMap<String, (String, Vec<u8>)>);

impl Content {
    pub(crate) fn add_blob(&mut self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        self.0.insert(format!("blobs/{digest}"), ("application/octet-stream".into(), bytes.into()));
        digest
    }

    pub(crate) fn add_manifest(&mut self, tag: &str, kind: &str, text: &str) -> Digest {
        let digest = Digest::of(text.as_bytes());
        for name in [tag.to_owned(), digest.to_string()] {
            self.0.insert(format!("manifests/{name}"), (kind.into(), text.into()));
        }
        digest
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.0.remove(path);
    }

    fn reply(&self, asked: &Asked) -> Reply {
        let path = asked.path.split('?').next().unwrap_or_default();
        let found = path.strip_prefix("/v2/org/flux/").and_then(|path| self.0.get(path));
        let Some((kind, bytes)) = found else {
            return Reply::new(404, r#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"not here"}]}"#);
        };
        let digest = Digest::of(bytes).to_string();
        Reply::new(200, bytes.clone()).header("content-type", kind).header("docker-content-digest", digest)
    }
}

/// A server on a port of its own. It ends with the test.
pub(crate) struct Fake {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    pub(crate) content: Arc<Mutex<Content>>,
    task: JoinHandle<()>,
}

impl Fake {
    /// Answers with what it has, unless `special` has an answer of its own.
    pub(crate) async fn start(special: impl FnMut(&Asked) -> Option<Reply> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, content) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::<Mutex<Content>>::default());
        let special: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Box::new(special)));
        let (log, has) = (Arc::clone(&asked), Arc::clone(&content));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (log, has, special) = (Arc::clone(&log), Arc::clone(&has), Arc::clone(&special));
                tokio::spawn(serve(stream, move |asked: &Asked| {
                    log.lock().unwrap().push(asked.clone());
                    let reply = (special.lock().unwrap())(asked);
                    reply.unwrap_or_else(|| has.lock().unwrap().reply(asked))
                }));
            }
        });
        Self { port, asked, content, task }
    }

    pub(crate) fn reference(&self, rest: &str) -> operator_oci::Reference {
        format!("oci://127.0.0.1:{}/org/flux{rest}", self.port).parse().unwrap()
    }

    /// What was asked since the last time.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Methods and paths since the last time, with `<digest>` for digests.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |asked: Asked| match asked.path.split_once("sha256:") {
            Some((path, _)) => format!("{} {path}<digest>", asked.method),
            None => format!("{} {}", asked.method, asked.path),
        };
        self.take().into_iter().map(line).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: impl Fn(&Asked) -> Reply) {
    let mut bytes = Vec::new();
    loop {
        // The beginning of TLS, to which servers of plain HTTP answer so.
        if bytes.first() == Some(&22) {
            let _ = stream.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\nthis is plain HTTP").await;
            return;
        }
        let Some(asked) = parse(&bytes) else {
            match stream.read_buf(&mut bytes).await {
                Ok(count) if count > 0 => continue,
                _ => return,
            }
        };
        bytes.clear();
        let reply = answer(&asked);
        let mut head = format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
        for (name, value) in &reply.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        let body = if asked.method == "HEAD" { &[] } else { reply.body.as_slice() };
        let body = &body[..reply.cut.unwrap_or(body.len()).min(body.len())];
        if stream.write_all(&[head.as_bytes(), body].concat()).await.is_err() {
            return;
        }
        if reply.hangs {
            std::future::pending::<()>().await;
        }
        if reply.cut.is_some() {
            return;
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Asked> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let headers: BTreeMap<String, String> = headers
        .split("\r\n")
        .filter_map(|header| header.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    (body.len() == length).then(|| Asked {
        method: words.next().unwrap().to_owned(),
        path: words.next().unwrap().to_owned(),
        headers,
        body: body.to_owned(),
    })
}
