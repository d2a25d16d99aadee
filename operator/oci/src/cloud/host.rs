/// A registry of a cloud.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Registry {
    /// Of AWS, in a region, below the domain of its part of the world.
    Ecr { region: String, domain: String },
    /// Of Azure.
    Acr,
    /// Of Google, new or old.
    Google,
}

impl Registry {
    /// Which one a host is. A credential goes nowhere else, so it is exact about the end of the name.
    pub(super) fn of(host: &str) -> Option<Self> {
        let is_google = host == "gcr.io" || host.ends_with(".gcr.io") || host.ends_with(".pkg.dev");
        if is_google {
            return Some(Self::Google);
        }
        if [".azurecr.io", ".azurecr.cn", ".azurecr.us"].iter().any(|domain| host.ends_with(domain)) {
            return Some(Self::Acr);
        }
        let domain = ["amazonaws.com", "amazonaws.com.cn"]
            .iter()
            .find(|domain| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.')))?;
        let parts: Vec<&str> = host.strip_suffix(domain)?.trim_end_matches('.').split('.').collect();
        let [account, "dkr", "ecr" | "ecr-fips", region] = parts.as_slice() else { return None };
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        let is_region = region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (is_account && is_region)
            .then(|| Self::Ecr { region: (*region).to_owned(), domain: (*domain).to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::Registry;

    #[rstest]
    #[case("012345678901.dkr.ecr.eu-west-1.amazonaws.com", "eu-west-1", "amazonaws.com")]
    #[case("012345678901.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1", "amazonaws.com")]
    #[case("012345678901.dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1", "amazonaws.com.cn")]
    fn registries_of_aws_have_a_region(#[case] host: &str, #[case] region: &str, #[case] domain: &str) {
        let expected = Registry::Ecr { region: region.into(), domain: domain.into() };
        assert_eq!(Registry::of(host), Some(expected));
    }

    #[rstest]
    #[case("mine.azurecr.io", Some(Registry::Acr))]
    #[case("mine.azurecr.us", Some(Registry::Acr))]
    #[case("europe-docker.pkg.dev", Some(Registry::Google))]
    #[case("gcr.io", Some(Registry::Google))]
    #[case("eu.gcr.io", Some(Registry::Google))]
    #[case("ghcr.io", None)]
    #[case("evilgcr.io", None)]
    #[case("gcr.io.evil", None)]
    #[case("mine.azurecr.io.evil", None)]
    #[case("mine.azurecr.io:5000", None)]
    #[case("azurecr.io", None)]
    #[case("x.dkr.ecr.eu-west-1.amazonaws.com", None)]
    #[case("012345678901.dkr.ecr.eu-west-1.evilamazonaws.com", None)]
    #[case("012345678901.dkr.ecr.evil.example.amazonaws.com", None)]
    #[case("public.ecr.aws", None)]
    fn others_are_known_by_the_end_of_their_name(#[case] host: &str, #[case] expected: Option<Registry>) {
        assert_eq!(Registry::of(host), expected);
    }
}
