use std::time::SystemTime;

use aws_lc_rs::hmac;
use data_encoding::HEXLOWER;
use jiff::Timestamp;
use operator_net::Url;

use crate::digest::Digest;

/// Who signs requests to AWS.
pub(super) struct Signer {
    pub(super) key_id: String,
    pub(super) secret: String,
    /// Empty for keys that are good for ever.
    pub(super) session_token: String,
}

/// Signs requests by version 4 of the process.
pub(super) struct Signature<'a> {
    pub(super) signer: &'a Signer,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    pub(super) now: SystemTime,
}

/// What is added to a request.
pub(super) struct Signed {
    /// The value of `x-amz-date`.
    pub(super) date: String,
    /// The value of `Authorization`.
    pub(super) authorization: String,
}

impl Signature<'_> {
    /// Of a POST to the root of a server; none when the clock cannot be written.
    pub(super) fn of(&self, url: &Url, headers: &[(&str, &str)], body: &[u8]) -> Option<Signed> {
        let date = Timestamp::try_from(self.now).ok()?.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = date.get(..8)?;
        let host = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str()?),
            None => url.host_str()?.to_owned(),
        };
        let token = self.signer.session_token.as_str();
        let mut all = vec![("host", host.as_str()), ("x-amz-date", date.as_str())];
        all.extend_from_slice(headers);
        all.extend((!token.is_empty()).then_some(("x-amz-security-token", token)));
        all.sort_unstable();
        let lines: String = all.iter().flat_map(|(name, value)| [name, ":", value.trim(), "\n"]).collect();
        let names = all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let content = Digest::of(body).hexadecimal();
        let request = format!("POST\n{}\n\n{lines}\n{names}\n{content}", url.path());
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let text =
            format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", Digest::of(request.as_bytes()).hexadecimal());
        let parts = [day, self.region, self.service, "aws4_request", text.as_str()];
        let first = format!("AWS4{}", self.signer.secret).into_bytes();
        let signature = parts.iter().fold(first, |key, part| sign(&key, part));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.signer.key_id,
            HEXLOWER.encode(&signature)
        );
        Some(Signed { date, authorization })
    }
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Signature, Signer};

    /// `post-vanilla` and `post-header-key-sort` of the test suite that AWS publishes for this process.
    #[test]
    fn requests_are_signed_as_the_test_suite_of_aws_has_it() {
        let signer = Signer {
            key_id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: String::new(),
        };
        // 2015-08-30T12:36:00Z.
        let now = SystemTime::UNIX_EPOCH + Duration::from_mins(24_015_636);
        let signature = Signature { signer: &signer, region: "us-east-1", service: "service", now };
        let url = "https://example.amazonaws.com/".parse().unwrap();
        let stamp = signature.of(&url, &[], b"").unwrap();
        assert_eq!(stamp.date, "20150830T123600Z");
        assert_eq!(
            stamp.authorization,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
        let stamp = signature.of(&url, &[("my-header1", "value1")], b"").unwrap();
        assert!(
            stamp.authorization.ends_with(
                "SignedHeaders=host;my-header1;x-amz-date, \
                 Signature=c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"
            ),
            "{}",
            stamp.authorization
        );
    }
}
