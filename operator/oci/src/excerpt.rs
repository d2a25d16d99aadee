/// How much of what others wrote goes into a message, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// The beginning of a text, in one line.
pub(crate) fn excerpt(text: &str) -> String {
    beginning(text, SHOWN_CHARACTERS, ' ')
}

/// The beginning of a text that somebody else wrote, made fit to be shown: on one line, and with a stand-in for what
/// a terminal or a log would act on.
pub(crate) fn beginning(text: &str, most_characters: usize, stand_in: char) -> String {
    let mut characters = text.chars();
    let shown = characters.by_ref().take(most_characters);
    let mut shown: String =
        shown.map(|character| if is_active(character) { stand_in } else { character }).collect();
    if characters.next().is_some() {
        shown.push_str("...");
    }
    shown
}

/// Direction marks are no control characters for Rust, and reorder what a reader sees.
fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn long_texts_and_lines_are_cut() {
        assert_eq!(excerpt("a\nb"), "a b");
        assert_eq!(excerpt(&"ä".repeat(200)), "ä".repeat(200));
        assert_eq!(excerpt(&"ä".repeat(201)), format!("{}...", "ä".repeat(200)));
        assert_eq!(excerpt("a\u{202e}b"), "a b");
    }
}
