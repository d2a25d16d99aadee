//! What a request asks of the API server, read from its method, path and query.

use std::fmt;

use http::{Method, Uri, header, request::Parts};

/// A request, in the words of Kubernetes.
///
/// Paths that name no object, such as discovery and health, have an empty `resource`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiRequest {
    /// The HTTP method.
    pub method: Method,
    /// Path and query, as they were sent.
    pub path: String,
    /// What is to be done.
    pub verb: Verb,
    /// API group; empty for the core group.
    pub group: String,
    /// API version, such as `v1`.
    pub version: String,
    /// Plural name of the kind, such as `deployments`.
    pub resource: String,
    /// Namespace; empty for cluster-scoped objects and for all namespaces.
    pub namespace: String,
    /// Name of the object; empty for collections.
    pub name: String,
    /// Subresource, such as `status`; mostly empty.
    pub subresource: String,
    /// Nothing is to be stored.
    pub is_dry_run: bool,
    /// The program that sent it.
    pub user_agent: String,
}

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read a collection.
    List,
    /// Follow a collection or object.
    Watch,
    /// Make an object, or call a subresource.
    Create,
    /// Replace an object.
    Update,
    /// Change or apply an object.
    Patch,
    /// Delete an object.
    Delete,
    /// Delete all objects of a collection.
    DeleteCollection,
    /// Anything that is not about objects.
    Other,
}

impl Verb {
    /// Whether it may change what is stored.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Patch | Self::Delete | Self::DeleteCollection)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other => "other",
        })
    }
}

impl ApiRequest {
    /// Reads a request's head.
    pub(crate) fn of(parts: &Parts) -> Self {
        let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        Self::read(&parts.method, &parts.uri, agent.unwrap_or_default())
    }

    fn read(method: &Method, uri: &Uri, user_agent: &str) -> Self {
        let parameters = Parameters::of(uri.query().unwrap_or_default());
        let place = Place::of(uri.path());
        let owned = str::to_owned;
        Self {
            method: method.clone(),
            path: uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default(),
            verb: verb(method, &place, parameters),
            group: owned(place.group),
            version: owned(place.version),
            resource: owned(place.resource),
            namespace: owned(place.namespace),
            name: owned(place.name),
            subresource: owned(place.subresource),
            is_dry_run: parameters.is_dry_run,
            user_agent: owned(user_agent),
        }
    }

    /// The object without what is done to it: `deployments.apps/flux-system/source-controller`.
    #[must_use]
    pub fn object(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        let mut object = format!("{}{dot}{}", self.resource, self.group);
        for part in [&self.namespace, &self.name].into_iter().filter(|part| !part.is_empty()) {
            object.push('/');
            object.push_str(part);
        }
        object
    }

    /// Whether it is about a record of leader election, which is renewed whatever happens.
    #[must_use]
    pub fn is_lease(&self) -> bool {
        self.resource == "leases"
    }

    /// Whether it is about an event that tells people what happened.
    #[must_use]
    pub fn is_event(&self) -> bool {
        self.resource == "events"
    }

    /// The path of the object itself, without subresource and query; nothing for collections.
    pub(crate) fn object_path(&self) -> Option<&str> {
        if self.name.is_empty() {
            return None;
        }
        let path = self.path.split('?').next()?;
        if self.subresource.is_empty() {
            return Some(path);
        }
        path.strip_suffix(self.subresource.as_str())?.strip_suffix('/')
    }
}

/// `patch deployments.apps/flux-system/source-controller status`
impl fmt::Display for ApiRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.resource.is_empty() {
            return write!(formatter, "{} {}", self.method, self.path);
        }
        write!(formatter, "{} {}", self.verb, self.object())?;
        if self.subresource.is_empty() { Ok(()) } else { write!(formatter, " {}", self.subresource) }
    }
}

/// What of the query matters.
#[derive(Debug, Clone, Copy, Default)]
struct Parameters {
    is_watch: bool,
    is_dry_run: bool,
}

impl Parameters {
    fn of(query: &str) -> Self {
        let mut found = Self::default();
        for parameter in query.split('&') {
            match parameter {
                "watch=true" | "watch=1" | "watch" => found.is_watch = true,
                "dryRun=All" => found.is_dry_run = true,
                _ => {}
            }
        }
        found
    }
}

/// The object or collection that a path names.
#[derive(Debug, Default)]
struct Place<'a> {
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
    subresource: &'a str,
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Self {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Self::default(),
        };
        let place = Self { group, version, ..Self::default() };
        match rest {
            ["namespaces", name, subresource @ ("status" | "finalize")] => {
                Self { resource: "namespaces", namespace: name, name, subresource, ..place }
            }
            ["namespaces", namespace, resource, rest @ ..] => {
                Self { resource, namespace, ..place }.with_name(rest)
            }
            ["namespaces", name] => Self { resource: "namespaces", namespace: name, name, ..place },
            [resource, rest @ ..] => Self { resource, ..place }.with_name(rest),
            [] => Self::default(),
        }
    }

    fn with_name(self, rest: &[&'a str]) -> Self {
        match rest {
            [] => self,
            [name] => Self { name, ..self },
            [name, subresource, ..] => Self { name, subresource, ..self },
        }
    }
}

fn verb(method: &Method, place: &Place<'_>, parameters: Parameters) -> Verb {
    let is_collection = place.name.is_empty();
    match *method {
        _ if place.resource.is_empty() => Verb::Other,
        Method::GET if parameters.is_watch => Verb::Watch,
        Method::GET if is_collection => Verb::List,
        Method::GET => Verb::Get,
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE if is_collection => Verb::DeleteCollection,
        Method::DELETE => Verb::Delete,
        _ => Verb::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &Method, path: &str) -> ApiRequest {
        ApiRequest::read(method, &path.parse().unwrap(), "test")
    }

    #[test]
    fn requests_are_told_apart_by_verb_and_object() {
        for (method, path, expected) in [
            (Method::GET, "/api/v1/namespaces", "list namespaces"),
            (Method::GET, "/api/v1/namespaces/a", "get namespaces/a/a"),
            (Method::PUT, "/api/v1/namespaces/a/finalize", "update namespaces/a/a finalize"),
            (Method::GET, "/api/v1/namespaces/a/pods?limit=5&watch=true", "watch pods/a"),
            (Method::GET, "/api/v1/namespaces/a/pods?watch=false", "list pods/a"),
            (Method::GET, "/api/v1/pods?fieldSelector=metadata.name%3Dx", "list pods"),
            (Method::GET, "/api/v1/namespaces/a/pods/b/log", "get pods/a/b log"),
            (Method::POST, "/apis/events.k8s.io/v1/namespaces/a/events", "create events.events.k8s.io/a"),
            (
                Method::PATCH,
                "/apis/apps/v1/namespaces/a/deployments/b?force=true",
                "patch deployments.apps/a/b",
            ),
            (Method::PATCH, "/apis/g.io/v1/namespaces/a/things/b/status", "patch things.g.io/a/b status"),
            (
                Method::DELETE,
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/c",
                "delete clusterroles.rbac.authorization.k8s.io/c",
            ),
            (Method::DELETE, "/api/v1/namespaces/a/secrets", "deletecollection secrets/a"),
            (Method::GET, "/apis/apps/v1", "GET /apis/apps/v1"),
            (Method::GET, "/readyz?verbose", "GET /readyz?verbose"),
        ] {
            assert_eq!(read(&method, path).to_string(), expected, "{path}");
        }
    }

    #[test]
    fn a_dry_run_is_seen() {
        assert!(read(&Method::PATCH, "/api/v1/namespaces/a?fieldManager=x&dryRun=All").is_dry_run);
        assert!(!read(&Method::PATCH, "/api/v1/namespaces/a?fieldManager=x").is_dry_run);
    }

    #[test]
    fn the_object_of_a_subresource_has_a_path_of_its_own() {
        let path = |path: &str| read(&Method::PATCH, path).object_path().map(str::to_owned);
        assert_eq!(
            path("/apis/g/v1/namespaces/a/things/status/status?x=y").unwrap(),
            "/apis/g/v1/namespaces/a/things/status"
        );
        assert_eq!(path("/api/v1/namespaces/a/pods/b?x=y").unwrap(), "/api/v1/namespaces/a/pods/b");
        assert_eq!(path("/api/v1/namespaces/a/pods"), None);
    }
}
