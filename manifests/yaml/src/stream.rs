//! Streams of documents, split as Kubernetes' `NewYAMLOrJSONDecoder` splits them.

use serde_json::Value;

use crate::cursor::Mark;
use crate::decode::from_str;
use crate::error::{Problem, ReadError};

/// What separates documents, at the start of a line.
const SEPARATOR: &str = "---";

/// One document of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its content; never null.
    pub value: Value,
    /// The line its text starts in, counted from 1 in the stream. Blank lines, comments and separators in front
    /// of it do not count.
    pub line: usize,
}

/// Reads all documents of a stream, as `kubectl` reads files. Documents that are empty or null are left out.
///
/// A line that starts with `---` separates documents, wherever it stands: in a block text or in quotes, too. Only
/// a comment may follow it. Each document is read by [`from_str`], so that what follows its end without such a
/// line (behind `...`, for example) is not looked at. A stream that starts with `{` is read as JSON objects one
/// after the other, and goes on as YAML if that fails at the first or the second of them.
///
/// # Errors
///
/// If a document cannot be read, or a separator has text behind it. Lines are those of the stream.
pub fn documents(text: &str) -> Result<Vec<Document>, ReadError> {
    if !text.trim_start().starts_with('{') {
        return yaml_documents(text, 0);
    }
    let mut documents = json_documents(text);
    let Some(failure) = documents.failure else { return Ok(documents.read) };
    let rest = text.get(documents.consumed..).unwrap_or_default();
    if documents.count > 1 || rest.len() < MIN_YAML_BYTES {
        return Err(failure);
    }
    let rest = without_blank_start(rest);
    let lines_before = text.strip_suffix(rest).unwrap_or(text).matches('\n').count();
    documents.read.extend(yaml_documents(rest, lines_before)?);
    Ok(documents.read)
}

/// Kubernetes' decoder does not look for YAML in fewer bytes than this.
const MIN_YAML_BYTES: usize = 4;

/// What a stream of JSON values gave.
struct JsonDocuments {
    read: Vec<Document>,
    /// How many values were read, null included.
    count: usize,
    /// How many bytes they took.
    consumed: usize,
    /// Why reading stopped, if not at the end.
    failure: Option<ReadError>,
}

fn json_documents(text: &str) -> JsonDocuments {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut documents = JsonDocuments { read: Vec::new(), count: 0, consumed: 0, failure: None };
    let (mut counted, mut line) = (0, 1);
    while let Some(value) = values.next() {
        match value {
            Ok(value) => {
                let between = text.get(documents.consumed..).unwrap_or_default();
                let start = documents.consumed + between.len() - between.trim_start().len();
                line += text.get(counted..start).unwrap_or_default().matches('\n').count();
                counted = start;
                if !value.is_null() {
                    documents.read.push(Document { value, line });
                }
                documents.count += 1;
                documents.consumed = values.byte_offset();
            }
            Err(error) => {
                documents.failure = Some(json_error(&error));
                break;
            }
        }
    }
    documents
}

fn json_error(error: &serde_json::Error) -> ReadError {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
    let mark =
        Mark { index: 0, line: error.line().saturating_sub(1), column: error.column().saturating_sub(1) };
    ReadError::new(mark, Problem::InvalidJson { reason })
}

/// Leaves white space out, but no more of it than the first line break.
fn without_blank_start(text: &str) -> &str {
    let trimmed = text.trim_start();
    let blank = text.strip_suffix(trimmed).unwrap_or_default();
    match blank.find('\n') {
        Some(position) => text.get(position + 1..).unwrap_or_default(),
        None => trimmed,
    }
}

fn yaml_documents(text: &str, lines_before: usize) -> Result<Vec<Document>, ReadError> {
    let mut documents = Vec::new();
    let mut chunk = Chunk { text: String::new(), line: lines_before };
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let line = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        if let Some(rest) = line.strip_prefix(SEPARATOR) {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                let mark = Mark { index: 0, line: lines_before + index, column: SEPARATOR.len() };
                return Err(ReadError::new(mark, Problem::InvalidSeparator));
            }
            if !chunk.text.is_empty() {
                documents.extend(chunk.read()?);
                chunk = Chunk { text: String::new(), line: lines_before + index + 1 };
                continue;
            }
        }
        chunk.text.push_str(line);
        chunk.text.push('\n');
    }
    documents.extend(chunk.read()?);
    Ok(documents)
}

/// The text between two separators.
struct Chunk {
    text: String,
    /// How many lines of the stream are in front of it.
    line: usize,
}

impl Chunk {
    fn read(&self) -> Result<Option<Document>, ReadError> {
        let value = from_str(&self.text).map_err(|error| error.moved_down(self.line))?;
        if value.is_null() {
            return Ok(None);
        }
        let blank_lines = self.text.lines().take_while(|line| is_blank(line)).count();
        Ok(Some(Document { value, line: self.line + blank_lines + 1 }))
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.is_empty() || line.starts_with('#') || line.strip_prefix(SEPARATOR).is_some_and(is_blank)
}
