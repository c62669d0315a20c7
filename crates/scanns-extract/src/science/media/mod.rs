//! What images, sound and films tell about themselves: Exif, comments and tags.

pub(super) mod flac;
pub(super) mod id3;
pub(super) mod image;
pub(super) mod mp4;

use crate::output::Output;

/// Writes one thing that a file tells: a line of the text, an `attr`, and the field for its meaning.
fn tell(name: &str, value: &str, out: &mut Output) {
    let value = value.trim();
    if value.is_empty() {
        return;
    }
    out.line(&format!("{name}: {value}"));
    out.field("attr", &format!("{name}={value}"));
    match name.to_ascii_lowercase().as_str() {
        "title" | "imagedescription" | "description" => out.field("title", value),
        "artist" | "author" | "composer" | "performer" | "albumartist" => out.field("author", value),
        _ => {}
    }
}
