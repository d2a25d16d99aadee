use operator_net::Url;

use crate::{
    digest::Digest,
    manifest::{Descriptor, INDEX_TYPES, Manifest, RawManifest},
    reference::Target,
    registry::{
        content::{MAX_MANIFEST_BYTES, whole},
        error::RegistryError,
        refusal::refusal,
        remote::{Method, Remote},
    },
    repository::MAX_REFERRERS,
};

/// How many pages of referrers are read at most.
const MAX_PAGES: usize = 100;

impl Remote {
    /// What refers to a subject, from the API, or else from the tag that stands in for it.
    pub(crate) async fn get_referrers(&self, subject: &Digest) -> Result<Vec<Descriptor>, RegistryError> {
        let mut found = Vec::new();
        let mut path = format!("referrers/{subject}");
        for _ in 0..MAX_PAGES {
            let answer = self.ask(Method::Get, &path, INDEX_TYPES[0]).await?;
            let kind = answer.header("content-type").unwrap_or_default().to_owned();
            match answer.status() {
                200 if kind.starts_with(INDEX_TYPES[0]) => {}
                // Registries without the API answer so, and some with a page for people.
                200 | 400 | 404 | 405 | 406 | 501 => return self.referrers_by_tag(subject).await,
                _ => return Err(refusal(answer, self.credential_kind()).await),
            }
            let next = next_page(&answer.headers("link").collect::<Vec<_>>());
            let bytes = whole(answer, "the list of referrers", MAX_MANIFEST_BYTES).await?;
            found.extend(list(&RawManifest::new(bytes, &kind), subject)?);
            if found.len() > MAX_REFERRERS {
                break;
            }
            match next {
                Some(query) => path = format!("referrers/{subject}?{query}"),
                None => return Ok(found),
            }
        }
        Err(RegistryError::TooManyReferrers { subject: *subject, limit: MAX_REFERRERS })
    }

    async fn referrers_by_tag(&self, subject: &Digest) -> Result<Vec<Descriptor>, RegistryError> {
        match self.get_manifest(Target::Tag(&subject.tag(""))).await? {
            Some(manifest) => {
                let found = list(&manifest, subject)?;
                if found.len() > MAX_REFERRERS {
                    return Err(RegistryError::TooManyReferrers { subject: *subject, limit: MAX_REFERRERS });
                }
                Ok(found)
            }
            None => Ok(Vec::new()),
        }
    }
}

/// The manifests of an index. A manifest of another kind under that tag is something else of somebody else.
fn list(manifest: &RawManifest, subject: &Digest) -> Result<Vec<Descriptor>, RegistryError> {
    match manifest.read() {
        Ok(Manifest::Index(manifests)) => Ok(manifests),
        Ok(Manifest::Image(_)) => Ok(Vec::new()),
        Err(source) => Err(RegistryError::Referrers { subject: *subject, source }),
    }
}

/// The query of the next page, from `Link: <...>; rel="next"`. Where it leads to besides is not believed.
fn next_page(links: &[&str]) -> Option<String> {
    links.iter().flat_map(|value| value.split(',')).find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            matches!(parameter.trim().to_ascii_lowercase().as_str(), "rel=\"next\"" | "rel=next")
        });
        let base = Url::parse("https://registry.invalid/").ok()?;
        let query = base.join(target).ok()?.query()?.to_owned();
        is_next.then_some(query)
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::next_page;

    #[rstest]
    #[case(&[], None)]
    #[case(&[r#"</v2/a/referrers/sha256:1?n=2&last=x>; rel="next""#], Some("n=2&last=x"))]
    #[case(&["<https://evil/?n=2>; rel=next"], Some("n=2"))]
    #[case(&[r#"</v2/a>; rel="next""#], None)]
    #[case(&[r#"</v2/a?n=1>; rel="prev", </v2/a?n=3>; rel="next""#], Some("n=3"))]
    #[case(&["nonsense"], None)]
    fn only_the_query_of_the_next_page_is_taken(#[case] links: &[&str], #[case] expected: Option<&str>) {
        assert_eq!(next_page(links).as_deref(), expected);
    }
}
