//! Values that somebody could mistake for what a pattern means: `org-evil` for `org`, `0rg` for `org`. This only
//! chooses the words of a refusal.

use regex_syntax::ast::{Ast, parse::Parser};

/// Beginnings that are shorter than this resemble too much.
const MIN_CHARACTERS: usize = 4;

/// How `pattern` begins, before it leaves anything open, without what looks alike.
pub(super) fn beginning(pattern: &str) -> Option<String> {
    let tree = Parser::new().parse(pattern).ok()?;
    let parts = match &tree {
        Ast::Concat(concat) => concat.asts.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut text = String::new();
    for part in parts {
        match part {
            Ast::Literal(literal) => text.push(literal.c),
            Ast::Dot(_) => text.push('.'),
            Ast::Assertion(_) => {}
            _ => break,
        }
    }
    let text = skeleton(&text);
    (text.len() >= MIN_CHARACTERS).then_some(text)
}

/// `text` without what an eye passes over: case, punctuation, and digits that look like letters.
pub(super) fn skeleton(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .filter(|character| character.is_alphanumeric())
        .map(|character| match character {
            '0' => 'o',
            '1' | 'i' => 'l',
            other => other,
        })
        .collect()
}
