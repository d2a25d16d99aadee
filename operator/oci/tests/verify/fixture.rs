//! The questions and answers in `tests/signatures`. Signatures and the answers of other programs come from
//! `e2e/oracles/sigstore`.

use std::{collections::BTreeMap, fs, path::Path};

use data_encoding::BASE64;
use jiff::Timestamp;
use operator_oci::verify::{
    Excerpt, Found, Policy, Proof, PublicKey, Refusal, Request, Signature, SignatureContent, TagSignature,
    TransparencyLog, TrustRoot, verify,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Fixture {
    #[serde(rename = "about")]
    _about: String,
    artifact: String,
    policy: FixturePolicy,
    root: String,
    now: Option<Timestamp>,
    pub(crate) signatures: Vec<FixtureSignature>,
    pub(crate) expected: String,
    pub(crate) stricter: Option<String>,
    pub(crate) others: Option<Others>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FixturePolicy {
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    identities: Vec<FixtureIdentity>,
    #[serde(default)]
    ignore_tlog: bool,
}

#[derive(Deserialize)]
struct FixtureIdentity {
    issuer: String,
    subject: String,
}

#[derive(Deserialize)]
pub(crate) struct FixtureSignature {
    pub(crate) tag: Option<FixtureTag>,
    pub(crate) bundle: Option<serde_json::Value>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct FixtureTag {
    pub(crate) payload: String,
    pub(crate) annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(crate) struct Others {
    #[serde(rename = "program")]
    _program: String,
    pub(crate) accepts: bool,
    pub(crate) says: Option<String>,
}

impl Fixture {
    pub(crate) fn read(path: &Path) -> Self {
        serde_json::from_slice(&fs::read(path).expect("fixture")).expect("fixture")
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::read(&folder().join(format!("{name}.json")))
    }

    pub(crate) fn artifact(&self) -> operator_oci::Digest {
        self.artifact.parse().expect("digest")
    }

    pub(crate) fn trusted_root(&self) -> TrustRoot {
        match self.root.as_str() {
            "embedded" => TrustRoot::embedded().expect("embedded root"),
            name => {
                let json = fs::read(folder().join(format!("roots/{name}.json"))).expect("root");
                TrustRoot::from_json(&format!("the root {name}"), &json).expect("root")
            }
        }
    }

    pub(crate) fn policy(&self) -> Policy {
        let log = if self.policy.ignore_tlog { TransparencyLog::Ignored } else { TransparencyLog::Required };
        if self.policy.keys.is_empty() {
            let identities = self.policy.identities.iter();
            let pairs = identities.map(|identity| (identity.issuer.as_str(), identity.subject.as_str()));
            return Policy::identities(pairs, log).expect("policy");
        }
        let keys = self.policy.keys.iter().enumerate();
        let keys = keys.map(|(index, pem)| PublicKey::from_pem(&format!("key-{index}.pub"), pem.as_bytes()));
        Policy::keys(keys.collect::<Result<_, _>>().expect("keys"), log).expect("policy")
    }

    pub(crate) fn found(&self) -> Found {
        Found {
            looked_at: vec![Excerpt::of("the fixture")],
            signatures: self.contents().collect(),
            left_out: 0,
        }
    }

    fn contents(&self) -> impl Iterator<Item = Signature> {
        self.signatures.iter().map(|signature| match (&signature.tag, &signature.bundle) {
            (Some(tag), None) => located(SignatureContent::Tag(tag.content())),
            (None, Some(bundle)) => {
                located(SignatureContent::Bundle(serde_json::to_vec(bundle).expect("bundle")))
            }
            _ => panic!("a fixture has either a tag or a bundle"),
        })
    }

    pub(crate) fn answer(&self, found: &Found) -> Result<Proof, Refusal> {
        self.answer_with(&self.policy(), &self.trusted_root(), found)
    }

    pub(crate) fn answer_with(
        &self,
        policy: &Policy,
        root: &TrustRoot,
        found: &Found,
    ) -> Result<Proof, Refusal> {
        let artifact = self.artifact();
        // The day is of the future seen from all signatures, and of the past seen from any machine.
        let now = self.now.unwrap_or_else(|| "2026-01-01T00:00:00Z".parse().expect("time"));
        verify(&Request { artifact, policy, root, now }, found)
    }
}

impl FixtureTag {
    pub(crate) fn content(&self) -> TagSignature {
        let annotations = self.annotations.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        TagSignature::new(BASE64.decode(self.payload.as_bytes()).expect("payload"), annotations)
    }
}

pub(crate) fn located(content: SignatureContent) -> Signature {
    Signature { location: Excerpt::of("fixture"), content }
}

pub(crate) fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signatures")
}

/// The word for an answer.
pub(crate) fn word(answer: &Result<Proof, Refusal>) -> &'static str {
    match answer {
        Ok(_) => "Verified",
        Err(refusal) => refusal.reason(),
    }
}
