//! Characters that YAML has no place for, and when Go's reader meets them.

use crate::cursor::Cursor;
use crate::error::{Problem, ReadError};

/// How many bytes Go's reader takes at once; a bad character matters as soon as its chunk is taken.
const CHUNK_BYTES: usize = 512;

/// A character that has no place in YAML.
pub(crate) struct ControlCharacter {
    code: u32,
    offset: usize,
    chunk_start: usize,
}

impl ControlCharacter {
    /// Whether a reader that took so many bytes has seen the chunk of the character.
    pub(crate) fn is_within(&self, read_bytes: usize) -> bool {
        self.chunk_start <= read_bytes
    }

    pub(crate) fn error(&self, text: &str) -> ReadError {
        let mut cursor = Cursor::new(text);
        while cursor.offset() < self.offset {
            if cursor.is_break(0) { cursor.skip_break() } else { cursor.skip() }
        }
        ReadError::new(cursor.mark(), Problem::ControlCharacter { code: self.code })
    }
}

/// Looks for the first one.
pub(crate) fn first_control_character(text: &str) -> Option<ControlCharacter> {
    let (offset, character) = text.char_indices().find(|(_, character)| is_control(*character))?;
    let mut chunk_start = 0;
    loop {
        let next = text.floor_char_boundary(chunk_start + CHUNK_BYTES);
        if next > offset || next <= chunk_start {
            return Some(ControlCharacter { code: u32::from(character), offset, chunk_start });
        }
        chunk_start = next;
    }
}

fn is_control(character: char) -> bool {
    !matches!(character, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}
