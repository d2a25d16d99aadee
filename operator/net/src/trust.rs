use std::fmt;

use reqwest::{Certificate, Identity};

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
    pub(crate) fn certificates(&self) -> Result<Vec<Certificate>, HttpError> {
        if self.authorities.is_empty() {
            return Ok(Vec::new());
        }
        let certificates = Certificate::from_pem_bundle(&self.authorities).map_err(HttpError::Authorities)?;
        if certificates.is_empty() { Err(HttpError::NoAuthorities) } else { Ok(certificates) }
    }

    pub(crate) fn identity(&self) -> Result<Option<Identity>, HttpError> {
        let Some(identity) = &self.identity else { return Ok(None) };
        let pem = [identity.key.as_slice(), b"\n", identity.certificate.as_slice()].concat();
        Identity::from_pem(&pem).map(Some).map_err(HttpError::ClientCertificate)
    }
}
