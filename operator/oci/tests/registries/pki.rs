//! Authorities and certificates, good and expired.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

/// How long a certificate is good.
#[derive(Clone, Copy)]
pub(crate) enum Lifetime {
    Good,
    Over,
}

pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

fn params(names: &[&str], lifetime: Lifetime) -> CertificateParams {
    let mut params =
        CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = match lifetime {
        Lifetime::Good => date_time_ymd(2100, 1, 1),
        Lifetime::Over => date_time_ymd(2021, 1, 1),
    };
    params
}

impl Authority {
    pub(crate) fn new(name: &str, lifetime: Lifetime) -> Self {
        let mut params = params(&[], lifetime);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate for this machine, in files.
    pub(crate) fn sign(&self, folder: &Path, name: &str, lifetime: Lifetime) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let certificate =
            params(&["127.0.0.1", "localhost"], lifetime).signed_by(&key, &self.issuer).unwrap();
        let paths = Certificate {
            certificate: folder.join(format!("{name}.crt")),
            key: folder.join(format!("{name}.key")),
        };
        fs::write(&paths.certificate, certificate.pem()).unwrap();
        fs::write(&paths.key, key.serialize_pem()).unwrap();
        paths
    }
}
