//! Why a text is not taken.

use crate::cursor::Mark;

/// A text that is not YAML, or YAML that has no JSON form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ReadError {
    /// The line, counted from 1 in the text that was given.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

impl ReadError {
    pub(crate) fn new(mark: Mark, problem: Problem) -> Self {
        Self { line: mark.line + 1, column: mark.column + 1, problem }
    }

    /// The same error in a text that has `lines` lines before this one.
    pub(crate) fn moved_down(self, lines: usize) -> Self {
        Self { line: self.line + lines, ..self }
    }
}

/// What is wrong, and what to do about it where the text tells.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A character that YAML has no place for.
    #[error(
        "control character U+{code:04X} is not allowed; remove it, or write it as an escape in double quotes"
    )]
    ControlCharacter {
        /// The code point.
        code: u32,
    },
    /// A token cannot start with this character.
    #[error("{character:?} cannot start a value; put the value in quotes")]
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// A line at the indentation of a mapping that has no colon.
    #[error("expected ':' after this key; a key is one line of at most 1024 characters, followed by ': '")]
    MissingColon,
    /// A second colon in one line, or a wrong indentation.
    #[error("a mapping value is not allowed here; check the indentation, or put a text with ': ' in quotes")]
    UnexpectedValue,
    /// `? ` where no key may start.
    #[error("a mapping key is not allowed here; check the indentation, or put a text with '? ' in quotes")]
    UnexpectedKey,
    /// `- ` where no list entry may start.
    #[error("a list entry is not allowed here; start the list on its own line")]
    UnexpectedEntry,
    /// Something else than the key of a mapping.
    #[error("expected a key of the mapping, or the end of it; check the indentation")]
    ExpectedKey,
    /// Something else than the dash of a list.
    #[error("expected '- ', or the end of the list; check the indentation")]
    ExpectedEntry,
    /// A `[` that goes on without comma.
    #[error("expected ',' or ']' in the list that starts in line {line}")]
    ExpectedSequenceEnd {
        /// The line of the bracket, counted from 1.
        line: usize,
    },
    /// A `{` that goes on without comma.
    #[error("expected ',' or '}}' in the mapping that starts in line {line}")]
    ExpectedMappingEnd {
        /// The line of the brace, counted from 1.
        line: usize,
    },
    /// Nothing where a value must be.
    #[error("expected a value")]
    ExpectedContent,
    /// Directives without `---`.
    #[error("expected '---' after the directives")]
    ExpectedDocumentStart,
    /// A `%` line that says nothing known.
    #[error("unknown directive; a line starts with '%' only for %YAML and %TAG")]
    UnknownDirective,
    /// A `%YAML` or `%TAG` line that is not complete.
    #[error("malformed directive; write '%YAML 1.1' or '%TAG !handle! prefix'")]
    MalformedDirective,
    /// Two `%YAML` lines.
    #[error("%YAML is given twice")]
    DuplicateVersion,
    /// A version other than 1.1.
    #[error("YAML {major}.{minor} is not supported; remove the %YAML line")]
    UnsupportedVersion {
        /// The number before the dot.
        major: u8,
        /// The number after the dot.
        minor: u8,
    },
    /// Two `%TAG` lines for one handle.
    #[error("%TAG {handle} is given twice")]
    DuplicateTagHandle {
        /// The handle with its exclamation marks.
        handle: String,
    },
    /// A tag whose handle no `%TAG` line defines.
    #[error("tag handle {handle} is not defined; remove the tag, or quote the text")]
    UndefinedTagHandle {
        /// The handle with its exclamation marks.
        handle: String,
    },
    /// A `!` that starts no tag.
    #[error("malformed tag; put a text that starts with '!' in quotes")]
    MalformedTag,
    /// A `&` or `*` without a name.
    #[error("expected a name of letters, digits, '_' and '-' after '&' or '*'; put other texts in quotes")]
    MalformedAnchor,
    /// `|` or `>` with something else than `+`, `-` and a digit behind it.
    #[error(
        "malformed header of a block text; write '|' or '>' with at most one of '+' and '-' and one digit from 1 to 9"
    )]
    MalformedBlockHeader,
    /// A tab in the indentation.
    #[error("a tab is not allowed as indentation; use spaces")]
    TabIndentation,
    /// A quote that is never closed.
    #[error("the quoted text that starts in line {line} has no end; close the quote")]
    UnclosedQuote {
        /// The line of the opening quote, counted from 1.
        line: usize,
    },
    /// `---` or `...` within quotes.
    #[error(
        "the quoted text that starts in line {line} is cut by a line with '---' or '...'; close the quote, or indent the line"
    )]
    QuoteCutByDocument {
        /// The line of the opening quote, counted from 1.
        line: usize,
    },
    /// An escape that YAML does not have.
    #[error("unknown escape in double quotes; write '\\\\' for a backslash")]
    UnknownEscape,
    /// An escape that is no character.
    #[error(
        "the escape is no character: its digits must be hexadecimal and its value below 110000, without D800 to DFFF"
    )]
    InvalidEscape,
    /// An alias of nothing.
    #[error("there is no anchor '&{name}' before this alias; define it, or put the text in quotes")]
    UnknownAnchor {
        /// The name of the alias.
        name: String,
    },
    /// An alias within its own anchor.
    #[error("anchor '{name}' contains itself")]
    RecursiveAnchor {
        /// The name of the alias.
        name: String,
    },
    /// Aliases that multiply to more than the text could hold.
    #[error("the document contains excessive aliasing; write the repeated parts out")]
    ExcessiveAliasing,
    /// Brackets or indentations without end.
    #[error("collections nest deeper than {limit} levels")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
    /// `<<` with something that is no mapping.
    #[error("'<<' needs a mapping, or a list of mappings")]
    MergeNeedsMapping,
    /// A mapping or a list as key.
    #[error("a key must be a text, a number or a boolean, not a {kind}")]
    UnsupportedKey {
        /// What the key is.
        kind: &'static str,
    },
    /// An equal key in one mapping, when reading strictly.
    #[error("key {key:?} is already set in this mapping")]
    DuplicateKey {
        /// The key as JSON has it.
        key: String,
    },
    /// A tag that its value does not fit.
    #[error("the value is {found}, not {wanted}, as its tag says")]
    TagMismatch {
        /// What the value is.
        found: &'static str,
        /// What the tag says.
        wanted: &'static str,
    },
    /// `!!binary` with something else.
    #[error("the !!binary value is not base64")]
    InvalidBase64,
    /// Infinity, or not a number.
    #[error("{value} has no JSON form; put it in quotes if it is a text")]
    NotFinite {
        /// The value in YAML.
        value: &'static str,
    },
    /// `---` with something else than a comment behind it, in a stream of documents.
    #[error("only a comment may follow '---' in its line; start the document in the next line")]
    InvalidSeparator,
    /// A stream of JSON objects that is not JSON.
    #[error("malformed JSON in a stream of JSON objects: {reason}")]
    InvalidJson {
        /// What the JSON reader says.
        reason: String,
    },
}
