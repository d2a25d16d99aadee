//! What names and labels of objects may look like.

/// The most characters of a label value and of a part of a DNS name.
pub const MAX_LABEL: usize = 63;

/// The most characters of a DNS name.
pub const MAX_DOMAIN: usize = 253;

/// A key of a label or an annotation: `name` or `prefix/name`, where the prefix is a DNS name.
#[must_use]
pub fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').unwrap_or(("example.com", text));
    name.len() <= MAX_LABEL && is_word(name) && is_domain(prefix)
}

/// A DNS name, such as that of a cluster or of most objects.
#[must_use]
pub fn is_domain(text: &str) -> bool {
    text.len() <= MAX_DOMAIN && text.split('.').all(is_dns_label)
}

/// One part of a DNS name.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    let is_inner =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    !text.is_empty() && text.chars().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// The value of a label, which may be empty.
#[must_use]
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || (text.len() <= MAX_LABEL && is_word(text))
}

/// Letters, digits and `-_.` between a letter or digit at either end.
fn is_word(text: &str) -> bool {
    let is_inner =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    text.chars().all(is_inner)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.ends_with(|last: char| last.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::{is_domain, is_label_key, is_label_value};

    #[test]
    fn keys_have_a_name_and_perhaps_a_domain_before_it() {
        for good in ["team", "example.com/team", "a_b.c-d", "x/A"] {
            assert!(is_label_key(good), "{good}");
        }
        for bad in ["", "/team", "example.com/", "Example.com/team", "a b", "-a", "a/b/c", &"x".repeat(64)] {
            assert!(!is_label_key(bad), "{bad}");
        }
    }

    #[test]
    fn values_are_words_or_empty() {
        assert!(["", "platform", "v1.2_x"].into_iter().all(is_label_value));
        assert!(!["a b", "-", "a/b", &"x".repeat(64)].into_iter().any(is_label_value));
    }

    #[test]
    fn domains_have_small_letters() {
        for good in ["cluster.local", "git-credentials", "git", "git-1.example", "0"] {
            assert!(is_domain(good), "{good}");
        }
        for bad in ["", "..", ".", "a..b", "a/b", "../a", "A", "Cluster.local", "a b", "a?b", "-a"] {
            assert!(!is_domain(bad), "{bad}");
        }
    }
}
