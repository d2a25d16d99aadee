/// How much of what others wrote goes into a message, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// The beginning of a text, in one line.
pub(crate) fn excerpt(text: &str) -> String {
    let one_line = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut shown: String = one_line.take(SHOWN_CHARACTERS).collect();
    if text.chars().nth(SHOWN_CHARACTERS).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn long_texts_and_lines_are_cut() {
        assert_eq!(excerpt("a\nb"), "a b");
        assert_eq!(excerpt(&"ä".repeat(200)), "ä".repeat(200));
        assert_eq!(excerpt(&"ä".repeat(201)), format!("{}...", "ä".repeat(200)));
    }
}
