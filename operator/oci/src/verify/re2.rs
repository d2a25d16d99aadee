//! Patterns in RE2 syntax, read by Rust's regex engine.
//!
//! Both read most patterns alike. Where they do not, the pattern is either rewritten, such as `\d`, which means 10
//! digits for RE2 and 760 for Rust, or refused: a pattern that guards an identity must not mean more than it says.

use regex_syntax::ast::{
    self, Assertion, AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSetBinaryOp, ClassSetItem,
    ClassUnicodeKind, Flag, Flags, FlagsItemKind, GroupKind, HexLiteralKind, Literal, LiteralKind, Span,
};

/// Why RE2 would not read a pattern as Rust does.
pub(super) enum Difference {
    Syntax(String),
    Feature(&'static str),
}

/// `text` as Rust's engine has to be given it to match what RE2 matches.
pub(super) fn rewrite(text: &str) -> Result<String, Difference> {
    let tree = ast::parse::Parser::new()
        .parse(text)
        .map_err(|error| Difference::Syntax(error.kind().to_string()))?;
    let mut replacements = ast::visit(&tree, Walk { text, replacements: Vec::new() })?;
    replacements.sort_by_key(|(span, _)| span.start.offset);

    let mut rewritten = String::with_capacity(text.len());
    let mut rest = 0;
    for (span, replacement) in replacements {
        rewritten.push_str(text.get(rest..span.start.offset).unwrap_or_default());
        rewritten.push_str(replacement);
        rest = span.end.offset;
    }
    rewritten.push_str(text.get(rest..).unwrap_or_default());
    Ok(rewritten)
}

struct Walk<'a> {
    text: &'a str,
    replacements: Vec<(Span, &'static str)>,
}

impl ast::Visitor for Walk<'_> {
    type Output = Vec<(Span, &'static str)>;
    type Err = Difference;

    fn finish(self) -> Result<Self::Output, Difference> {
        Ok(self.replacements)
    }

    fn visit_pre(&mut self, tree: &Ast) -> Result<(), Difference> {
        match tree {
            Ast::Flags(set) => known_flags(&set.flags),
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(flags) => known_flags(flags),
                GroupKind::CaptureIndex(_) | GroupKind::CaptureName { .. } => Ok(()),
            },
            Ast::Literal(literal) => known_literal(literal),
            Ast::Assertion(assertion) => self.assertion(assertion),
            Ast::ClassPerl(class) => {
                self.replacements.push((class.span, ascii(class)));
                Ok(())
            }
            Ast::ClassUnicode(class) => known_class(&class.kind),
            Ast::Repetition(repetition) if matches!(*repetition.ast, Ast::Repetition(_)) => {
                Err(Difference::Feature("a repetition of a repetition"))
            }
            Ast::Repetition(repetition) => match self.text.get(repetition.op.span.start.offset..) {
                Some(operator) if operator.starts_with("{,") => Err(Difference::Feature("{,n}")),
                _ => Ok(()),
            },
            Ast::Empty(_) | Ast::Dot(_) | Ast::ClassBracketed(_) | Ast::Alternation(_) | Ast::Concat(_) => {
                Ok(())
            }
        }
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Difference> {
        match item {
            ClassSetItem::Perl(class) => {
                self.replacements.push((class.span, ascii(class)));
                Ok(())
            }
            ClassSetItem::Literal(literal) => known_literal(literal),
            ClassSetItem::Range(range) => {
                known_literal(&range.start).and_then(|()| known_literal(&range.end))
            }
            ClassSetItem::Unicode(class) => known_class(&class.kind),
            ClassSetItem::Bracketed(_) => Err(Difference::Feature("a class in a class")),
            ClassSetItem::Empty(_) | ClassSetItem::Ascii(_) | ClassSetItem::Union(_) => Ok(()),
        }
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), Difference> {
        Err(Difference::Feature("an operation of two classes (&&, -- or ~~)"))
    }
}

impl Walk<'_> {
    fn assertion(&mut self, assertion: &Assertion) -> Result<(), Difference> {
        match assertion.kind {
            AssertionKind::StartLine
            | AssertionKind::EndLine
            | AssertionKind::StartText
            | AssertionKind::EndText => Ok(()),
            AssertionKind::WordBoundary => {
                self.replacements.push((assertion.span, r"(?-u:\b)"));
                Ok(())
            }
            _ => Err(Difference::Feature(r"a boundary other than \b")),
        }
    }
}

fn ascii(class: &ClassPerl) -> &'static str {
    match (&class.kind, class.negated) {
        (ClassPerlKind::Digit, false) => "[0-9]",
        (ClassPerlKind::Digit, true) => "[^0-9]",
        (ClassPerlKind::Space, false) => r"[\t\n\f\r ]",
        (ClassPerlKind::Space, true) => r"[^\t\n\f\r ]",
        (ClassPerlKind::Word, false) => "[0-9A-Za-z_]",
        (ClassPerlKind::Word, true) => "[^0-9A-Za-z_]",
    }
}

fn known_flags(flags: &Flags) -> Result<(), Difference> {
    let unknown = flags.items.iter().any(|item| match item.kind {
        FlagsItemKind::Negation => false,
        FlagsItemKind::Flag(flag) => matches!(flag, Flag::Unicode | Flag::CRLF | Flag::IgnoreWhitespace),
    });
    if unknown { Err(Difference::Feature("a flag other than i, m, s and U")) } else { Ok(()) }
}

fn known_literal(literal: &Literal) -> Result<(), Difference> {
    match literal.kind {
        LiteralKind::HexFixed(HexLiteralKind::X) | LiteralKind::HexBrace(HexLiteralKind::X) => Ok(()),
        LiteralKind::HexFixed(_) | LiteralKind::HexBrace(_) => Err(Difference::Feature(r"\u or \U")),
        _ => Ok(()),
    }
}

fn known_class(kind: &ClassUnicodeKind) -> Result<(), Difference> {
    match kind {
        ClassUnicodeKind::OneLetter(_) | ClassUnicodeKind::Named(_) => Ok(()),
        ClassUnicodeKind::NamedValue { .. } => Err(Difference::Feature(r"\p with a value")),
    }
}
