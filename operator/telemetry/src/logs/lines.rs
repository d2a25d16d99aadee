//! From an event to a line.

use jiff::Timestamp;
use tracing::{
    Event, Level, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, Scope},
};

use super::{
    LogEncoding,
    fields::{Fields, quote},
};

/// The most bytes of a line, its end included: container runtimes break longer ones in two.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024;

/// Bytes of a line that fields leave free for [`LEFT_OUT`], a number, and the end.
const TAIL_BYTES: usize = 64;

/// The field that says how many others had no place in the line.
const LEFT_OUT: &str = "fieldsLeftOut";

/// The keys of every line. A field of such a name gets a `_` behind it.
const OWN_KEYS: [&str; 4] = ["level", "ts", "logger", "msg"];

/// The field of an event that holds its message.
const MESSAGE: &str = "message";

/// Writes a line for every event.
pub(super) struct Lines<W> {
    encoding: LogEncoding,
    write: W,
}

impl<W: Fn(&[u8])> Lines<W> {
    /// `write` gets whole lines.
    pub(super) fn new(encoding: LogEncoding, write: W) -> Self {
        Self { encoding, write }
    }
}

impl<S, W> Layer<S> for Lines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&[u8]) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut own = Fields::default();
        event.record(&mut own);
        let message = own.take(MESSAGE);
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            if let Some(around) = span.extensions().get::<Fields>() {
                fields.extend(around.clone());
            }
        }
        fields.extend(own);
        let metadata = event.metadata();
        let mut line = match self.encoding {
            LogEncoding::Json => {
                let message = message.map_or_else(|| quote(""), |message| message.to_json_text());
                json_line(&json_head(metadata, &message), &fields)
            }
            LogEncoding::Console => {
                let message = message.map_or_else(String::new, |message| message.to_plain());
                console_line(&console_head(metadata, &message), &fields)
            }
        };
        line.push('\n');
        (self.write)(line.as_bytes());
    }
}

fn json_head(metadata: &Metadata<'_>, message: &str) -> String {
    let (level, now, logger) = (level(metadata), now(), quote(metadata.target()));
    format!(r#""level":"{level}","ts":"{now}","logger":{logger},"msg":{message}"#)
}

fn json_line(head: &str, fields: &Fields) -> String {
    let fields = joined(fields, Style { key_end: ":", separator: ",", room: room_behind(head) });
    let comma = if fields.is_empty() { "" } else { "," };
    format!("{{{head}{comma}{fields}}}")
}

fn console_head(metadata: &Metadata<'_>, message: &str) -> String {
    format!("{}\t{}\t{}\t{message}", now(), level(metadata).to_uppercase(), metadata.target())
}

fn console_line(head: &str, fields: &Fields) -> String {
    let fields = joined(fields, Style { key_end: ": ", separator: ", ", room: room_behind(head) });
    if fields.is_empty() { head.to_owned() } else { format!("{head}\t{{{fields}}}") }
}

fn room_behind(head: &str) -> usize {
    MAX_LINE_BYTES.saturating_sub(head.len()).saturating_sub(TAIL_BYTES)
}

/// How fields are put behind each other.
#[derive(Clone, Copy)]
struct Style {
    key_end: &'static str,
    separator: &'static str,
    /// Bytes.
    room: usize,
}

/// The fields, as many as there is room for.
fn joined(fields: &Fields, style: Style) -> String {
    let Style { key_end, separator, room } = style;
    let mut taken = 0;
    let mut left_out = 0_usize;
    let mut parts = Vec::new();
    for (name, value) in fields.iter() {
        let end = if OWN_KEYS.contains(&name) { "_" } else { "" };
        let part = format!("{}{key_end}{}", quote(&format!("{name}{end}")), value.to_json());
        let bytes = separator.len() + part.len();
        if taken + bytes > room {
            left_out += 1;
        } else {
            taken += bytes;
            parts.push(part);
        }
    }
    if left_out > 0 {
        parts.push(format!("{}{key_end}{left_out}", quote(LEFT_OUT)));
    }
    parts.join(separator)
}

/// RFC 3339 with milliseconds, in UTC.
fn now() -> String {
    let now = Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{now:.3}")
}

fn level(metadata: &Metadata<'_>) -> &'static str {
    match *metadata.level() {
        Level::TRACE => "trace",
        Level::DEBUG => "debug",
        Level::INFO => "info",
        Level::WARN => "warn",
        Level::ERROR => "error",
    }
}
