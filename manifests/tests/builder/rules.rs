//! Rules that no overlay can show.
