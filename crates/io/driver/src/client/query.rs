//! From answers to rows.

use std::sync::Arc;

use bytes::Bytes;
use postgres_types::Type;
use trunkline_driver_blocking::parts::{Kind, write_parameters};
use trunkline_driver_blocking::{Column, Error, OwnedRow, Rows, Statement};
use trunkline_session::frontend::rows::Frames;
use trunkline_wire::backend::{CommandComplete, command_complete, data_row};
use trunkline_wire::frontend::Target;
use trunkline_wire::{HEADER_BYTES, frame};

use super::{Client, Parameter, Scratch};
use crate::dispatch::{Answered, Want};

impl Client {
    pub(crate) async fn run_typed(
        &self,
        text: &str,
        parameters: &[(Parameter<'_>, Type)],
    ) -> Result<Rows, Error> {
        let (columns, answered) = self.ask_typed(text, parameters).await?;
        rows_of(columns, answered)
    }

    pub(crate) async fn ask_typed(
        &self,
        text: &str,
        parameters: &[(Parameter<'_>, Type)],
    ) -> Result<(Arc<[Column]>, Answered), Error> {
        if begins_copy_in(text) {
            return Err(Error::new(Kind::Usage("COPY ... FROM STDIN is run by copy_in")));
        }
        let types: Vec<Type> = parameters.iter().map(|(_, ty)| ty.clone()).collect();
        let oids: Vec<u32> = types.iter().map(Type::oid).collect();
        let unnamed = Statement::new("", types, Vec::new(), &self.link.unused)?;
        let answered = self.ask(Want::Whole, |scratch| {
            let Scratch { pipeline, value } = scratch;
            pipeline.parse(b"", text.as_bytes(), &oids)?;
            pipeline.bind_by(unnamed.template(), |values| {
                let given = parameters.iter().map(|(parameter, _)| *parameter);
                write_parameters(values, unnamed.parameters(), given, value)
            })?;
            pipeline.describe(Target::Portal, b"")?;
            pipeline.execute(b"", 0)?;
            pipeline.sync();
            Ok(())
        });
        let mut answered = answered.await?;
        let (_, columns) = self.resolve(answered.described.take()).await?;
        Ok((columns.into(), answered))
    }
}

/// What is in an answer's messages.
#[derive(Debug, Default)]
struct Contents {
    rows: usize,
    /// Where the first row's body is.
    first: std::ops::Range<usize>,
    affected: Option<u64>,
}

impl Contents {
    fn of(answered: &Answered) -> Result<Self, Error> {
        let mut contents = Self { affected: answered.affected, ..Self::default() };
        let frames = &answered.frames;
        let mut at = 0;
        while let Some(rest) = frames.get(at..)
            && let Ok(Some(header)) = frame::header(rest)
        {
            let body = at + HEADER_BYTES..at + header.frame_bytes();
            at = body.end;
            match header.tag {
                data_row::TAG => {
                    if contents.rows == 0 {
                        contents.first = body;
                    }
                    contents.rows += 1;
                }
                command_complete::TAG => {
                    let body = frames.get(body).unwrap_or_default();
                    let rows =
                        CommandComplete::decode(body).map_err(|error| Error::new(error.into()))?.rows();
                    contents.affected = Some(rows.unwrap_or(0));
                }
                _ => {}
            }
        }
        Ok(contents)
    }
}

pub(crate) fn rows_of(columns: Arc<[Column]>, answered: Answered) -> Result<Rows, Error> {
    let contents = Contents::of(&answered)?;
    Ok(Rows::new(columns, answered.frames, contents.rows, contents.affected))
}

/// The only row.
pub(super) fn only_row(
    columns: Arc<[Column]>,
    answered: Answered,
    expected: &'static str,
) -> Result<Option<OwnedRow>, Error> {
    let contents = Contents::of(&answered)?;
    match contents.rows {
        0 => Ok(None),
        1 => {
            // Its body and what comes before and after it, a few bytes: less than a count of who shares the buffer.
            Ok(Some(OwnedRow::within(columns, Bytes::from(answered.frames), contents.first)))
        }
        rows => Err(Error::new(Kind::RowCount { rows, expected })),
    }
}

pub(super) fn no_row() -> Error {
    Error::new(Kind::RowCount { rows: 0, expected: "one" })
}

pub(super) fn affected(answered: &Answered) -> Result<Option<u64>, Error> {
    Ok(Contents::of(answered)?.affected)
}

/// The rows of a part of a result.
pub(crate) fn part(columns: Arc<[Column]>, frames: Vec<u8>) -> Rows {
    let count = Frames::rows(&frames).count();
    Rows::new(columns, frames, count, None)
}

/// Whether one of a text's commands may be a COPY from the client.
pub(super) fn may_copy_in(text: &str) -> bool {
    text.as_bytes().windows(5).any(|word| word.eq_ignore_ascii_case(b"stdin"))
}

/// Whether a text is such a COPY: nothing could be asked behind it before the server has said so.
pub(super) fn begins_copy_in(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let (mark, end) = if rest.starts_with("--") {
            ("--", "\n")
        } else if rest.starts_with("/*") {
            ("/*", "*/")
        } else {
            break;
        };
        let comment = rest.get(mark.len()..).unwrap_or_default();
        let Some((_, after)) = comment.split_once(end) else { return false };
        rest = after.trim_start();
    }
    rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("copy")) && may_copy_in(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_from_the_client_is_told_from_what_speaks_of_one() {
        for text in
            ["copy t from stdin", " /* a */ -- b\n COPY t (a) FROM STDIN", "copy t from\nStdin with csv"]
        {
            assert!(begins_copy_in(text), "{text}");
        }
        for text in ["select 'copy stdin'", "copy t to stdout", "-- copy t from stdin", "/* copy stdin", ""] {
            assert!(!begins_copy_in(text), "{text}");
        }
    }
}
