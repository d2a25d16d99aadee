use std::{fmt, time::SystemTime};

use reqwest::{Certificate, Identity};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use x509_cert::der::Decode as _;

use crate::error::HttpError;

/// Whom to trust besides the certificates of the system, and who this client is.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Trust {
    /// Certificates of authorities, in PEM; empty for none.
    pub authorities: Vec<u8>,
    /// The certificate of this client and its key.
    pub identity: Option<ClientCertificate>,
}

/// The certificate of a client.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientCertificate {
    /// The certificate and those that it was signed by, in PEM.
    pub certificate: Vec<u8>,
    /// Its key, in PEM.
    pub key: Vec<u8>,
}

impl fmt::Debug for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Trust")
            .field("authorities", &format_args!("{} bytes", self.authorities.len()))
            .field("identity", &self.identity)
            .finish()
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClientCertificate(..)")
    }
}

impl Trust {
    /// Those that are good now; TLS would believe the others too.
    pub(crate) fn certificates(&self, now: SystemTime) -> Result<Vec<Certificate>, HttpError> {
        if self.authorities.is_empty() {
            return Ok(Vec::new());
        }
        let (mut good, mut over) = (Vec::new(), None);
        for der in CertificateDer::pem_slice_iter(&self.authorities) {
            let der = der.map_err(|_| HttpError::NoAuthorities)?;
            match ended(&der, now) {
                Some(problem) => over = Some(problem),
                None => good.push(Certificate::from_der(&der).map_err(HttpError::Authorities)?),
            }
        }
        match over {
            Some(problem) if good.is_empty() => Err(problem),
            None if good.is_empty() => Err(HttpError::NoAuthorities),
            _ => Ok(good),
        }
    }

    pub(crate) fn identity(&self) -> Result<Option<Identity>, HttpError> {
        let Some(identity) = &self.identity else { return Ok(None) };
        let pem = [identity.key.as_slice(), b"\n", identity.certificate.as_slice()].concat();
        Identity::from_pem(&pem).map(Some).map_err(HttpError::ClientCertificate)
    }
}

/// Why a certificate is not good now. What cannot be read is for TLS to judge.
fn ended(der: &[u8], now: SystemTime) -> Option<HttpError> {
    let certificate = x509_cert::Certificate::from_der(der).ok()?.tbs_certificate;
    let subject = || certificate.subject.to_string();
    let (from, until) = (certificate.validity.not_before, certificate.validity.not_after);
    if now > until.to_system_time() {
        return Some(HttpError::AuthorityOver {
            subject: subject(),
            until: until.to_date_time().to_string(),
        });
    }
    (now < from.to_system_time())
        .then(|| HttpError::AuthorityEarly { subject: subject(), from: from.to_date_time().to_string() })
}

#[cfg(test)]
mod tests;
