//! The body of CopyInResponse, CopyOutResponse and CopyBothResponse. These messages differ only in their type bytes.

use crate::list::{Format, Formats};
use crate::read::{Malformed, Problem, Reader};
use crate::write::{self, TooLarge};

pub(super) struct CopyResponse<'a> {
    pub(super) format: Format,
    pub(super) column_formats: Formats<'a>,
}

pub(super) fn decode(body: &[u8]) -> Result<CopyResponse<'_>, Malformed> {
    let mut reader = Reader::new(body);
    let start = reader;
    // Only here a format is one byte, not two. So unknown formats, which `Format` keeps elsewhere, are refused.
    let format = match reader.u8("copy format")? {
        0 => Format::TEXT,
        1 => Format::BINARY,
        _ => return Err(start.malformed("copy format", Problem::Value)),
    };
    let column_formats = Formats::read(&mut reader, "column format")?;
    reader.finish()?;
    Ok(CopyResponse { format, column_formats })
}

pub(super) fn encode(out: &mut Vec<u8>, tag: u8, format: Format, column_formats: Formats<'_>) {
    let mark = write::begin(out, tag);
    write::u8(out, u8::from(format == Format::BINARY));
    column_formats.append(out);
    write::end(out, mark);
}

pub(super) fn write(
    out: &mut Vec<u8>,
    tag: u8,
    format: Format,
    column_formats: &[Format],
) -> Result<(), TooLarge> {
    write::try_message(out, tag, |out| {
        write::u8(out, u8::from(format == Format::BINARY));
        Formats::write(out, column_formats)
    })
}
