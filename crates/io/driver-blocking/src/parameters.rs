//! Parameters, by `postgres-types`, into a message.

use bytes::BytesMut;
use postgres_types::{IsNull, ToSql, Type};
use trunkline_session::frontend::connection::BindValues;

use crate::error::{Error, Kind};

/// Writes each parameter's value. `scratch` is what `postgres-types` writes to.
#[doc(hidden)]
#[inline]
pub fn write<'p>(
    values: &mut BindValues<'_>,
    types: &[Type],
    parameters: impl ExactSizeIterator<Item = &'p (dyn ToSql + Sync)>,
    scratch: &mut BytesMut,
) -> Result<(), Error> {
    let given = parameters.len();
    if given != types.len() {
        return Err(Error::new(Kind::ParameterCount { given, expected: types.len() }));
    }
    for (index, (parameter, ty)) in parameters.zip(types).enumerate() {
        scratch.clear();
        match parameter.to_sql_checked(ty, scratch) {
            Ok(IsNull::Yes) => values.null(),
            Ok(IsNull::No) => values.value(scratch)?,
            Err(source) => return Err(Error::new(Kind::Parameter { index, ty: ty.to_string(), source })),
        }
    }
    Ok(())
}
