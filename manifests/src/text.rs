//! Texts that somebody else wrote, in messages.

/// The most characters of such a text in a message.
const SHOWN: usize = 80;

/// The text, or its beginning and an ellipsis.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{SHOWN, shortened};

    #[test]
    fn only_long_texts_are_cut_and_never_within_a_character() {
        assert_eq!(shortened("2.x"), "2.x");
        assert_eq!(shortened(&"ä".repeat(SHOWN)), "ä".repeat(SHOWN));
        assert_eq!(shortened(&"ä".repeat(SHOWN + 1)), format!("{}…", "ä".repeat(SHOWN)));
    }
}
