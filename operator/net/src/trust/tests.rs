use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};

use super::{ClientCertificate, Trust};
use crate::HttpError;

fn pem(name: &str, first_year: i32, last_year: i32) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    (params.not_before, params.not_after) = (date_time_ymd(first_year, 1, 1), date_time_ymd(last_year, 1, 1));
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
}

fn certificates(text: &str) -> Result<usize, HttpError> {
    // 2025-01-01.
    let now = SystemTime::UNIX_EPOCH + Duration::from_hours(482_136);
    let trust = Trust { authorities: text.as_bytes().to_vec(), identity: None };
    trust.certificates(now).map(|certificates| certificates.len())
}

#[test]
fn an_authority_that_is_not_good_now_is_named() {
    let (old, early, good) = (pem("old", 2020, 2024), pem("early", 2026, 2030), pem("good", 2020, 2030));
    assert_eq!(
        certificates(&old).unwrap_err().to_string(),
        "the certificate of the authority CN=old ended at 2024-01-01T00:00:00Z: renew it"
    );
    assert_eq!(
        certificates(&early).unwrap_err().to_string(),
        "the certificate of the authority CN=early begins at 2026-01-01T00:00:00Z: check it and the clock"
    );
    assert_eq!(certificates(&format!("# two of them\n{old}\n{good}")).unwrap(), 1);
    assert_eq!(certificates("").unwrap(), 0);
    for text in ["nonsense", "-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----\n"] {
        assert!(matches!(certificates(text), Err(HttpError::NoAuthorities)), "{text}");
    }
}

#[test]
fn nothing_of_a_key_is_shown() {
    let identity = ClientCertificate { certificate: b"cert".to_vec(), key: b"canary".to_vec() };
    let trust = Trust { authorities: Vec::new(), identity: Some(identity) };
    assert!(!format!("{trust:?}").contains("canary"));
    let message = trust.identity().unwrap_err().to_string();
    assert!(message.contains("PEM is expected"), "{message}");
}
