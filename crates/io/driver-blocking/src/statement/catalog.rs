//! Types that are not built in, as the server's catalog has them.

use std::collections::HashMap;

use postgres_types::{Field, Kind, Type};

use crate::error::Error;
use crate::rows::Row;

/// How deep types may lie in types; what is below counts as a type of no kind.
const DEPTH_MAX: usize = 32;

/// Asks for the types of the ids in its only parameter, and for those that they are made of.
#[doc(hidden)]
pub const LOOK_UP: &str = "\
with recursive wanted(id) as (
    select unnest($1)
    union
    select part.id from wanted join pg_catalog.pg_type t on t.oid = wanted.id, lateral (
        select t.typelem where t.typelem <> 0
        union all select t.typbasetype where t.typbasetype <> 0
        union all select r.rngsubtype from pg_catalog.pg_range r where r.rngtypid = t.oid
        union all select r.rngtypid from pg_catalog.pg_range r where t.typtype = 'm' and r.rngmultitypid = t.oid
        union all select a.atttypid from pg_catalog.pg_attribute a
            where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    ) part(id)
)
select t.oid, t.typname::text, n.nspname::text, t.typtype::text, t.typelem, t.typbasetype,
    coalesce((select r.rngsubtype from pg_catalog.pg_range r where r.rngtypid = t.oid),
        (select r.rngtypid from pg_catalog.pg_range r where t.typtype = 'm' and r.rngmultitypid = t.oid), 0::oid),
    array(select e.enumlabel::text from pg_catalog.pg_enum e where e.enumtypid = t.oid order by e.enumsortorder),
    array(select a.attname::text from pg_catalog.pg_attribute a
        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped order by a.attnum),
    array(select a.atttypid from pg_catalog.pg_attribute a
        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped order by a.attnum),
    t.typlen = -1 and t.typelem <> 0
from wanted join pg_catalog.pg_type t on t.oid = wanted.id join pg_catalog.pg_namespace n on n.oid = t.typnamespace";

/// The types of [`LOOK_UP`]'s parameters and columns.
#[doc(hidden)]
pub const LOOK_UP_TYPES: (Type, [Type; 11]) = (
    Type::OID_ARRAY,
    [
        Type::OID,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::OID,
        Type::OID,
        Type::OID,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::OID_ARRAY,
        Type::BOOL,
    ],
);

/// What a row of the look-up says.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    schema: String,
    kind: String,
    element: u32,
    base: u32,
    range_of: u32,
    labels: Vec<String>,
    field_names: Vec<String>,
    field_types: Vec<u32>,
    is_array: bool,
}

/// Types that a connection has looked up, by id.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Catalog {
    types: HashMap<u32, Type>,
    read: HashMap<u32, Entry>,
}

impl Catalog {
    pub fn knows(&self, oid: u32) -> bool {
        Type::from_oid(oid).is_some() || self.types.contains_key(&oid)
    }

    /// The type; one that the catalog lacks too has no name.
    pub fn find(&self, oid: u32) -> Type {
        let known = Type::from_oid(oid).or_else(|| self.types.get(&oid).cloned());
        known.unwrap_or_else(|| Type::new(String::new(), oid, Kind::Simple, String::new()))
    }

    /// Takes a row of the look-up's answer.
    pub fn read(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let entry = Entry {
            name: row.get(1)?,
            schema: row.get(2)?,
            kind: row.get(3)?,
            element: row.get(4)?,
            base: row.get(5)?,
            range_of: row.get(6)?,
            labels: row.get(7)?,
            field_names: row.get(8)?,
            field_types: row.get(9)?,
            is_array: row.get(10)?,
        };
        self.read.insert(row.get(0)?, entry);
        Ok(())
    }

    /// Makes types of what was read. Those asked for that the catalog does not have are noted as such.
    pub fn take_over(&mut self, asked: &[u32]) {
        let read = std::mem::take(&mut self.read);
        for oid in read.keys().chain(asked) {
            self.make(&read, *oid, &mut Vec::new());
        }
    }

    /// Makes a type, and before it those it is made of, each once. `within` are those being made.
    fn make(&mut self, read: &HashMap<u32, Entry>, oid: u32, within: &mut Vec<u32>) -> Type {
        if self.knows(oid) {
            return self.find(oid);
        }
        let unknown = Type::new(String::new(), oid, Kind::Simple, String::new());
        // A type may hold itself: a table's row with an array of such rows.
        let (Some(entry), false) = (read.get(&oid), within.contains(&oid) || within.len() >= DEPTH_MAX)
        else {
            if within.is_empty() {
                self.types.insert(oid, unknown.clone());
            }
            return unknown;
        };
        within.push(oid);
        let kind = match entry.kind.as_str() {
            "e" => Kind::Enum(entry.labels.clone()),
            "p" => Kind::Pseudo,
            "d" => Kind::Domain(self.make(read, entry.base, within)),
            "r" => Kind::Range(self.make(read, entry.range_of, within)),
            "m" => Kind::Multirange(self.make(read, entry.range_of, within)),
            "c" => {
                let fields = entry.field_names.iter().zip(&entry.field_types);
                let field =
                    |(name, oid): (&String, &u32)| Field::new(name.clone(), self.make(read, *oid, within));
                Kind::Composite(fields.map(field).collect())
            }
            _ if entry.is_array => Kind::Array(self.make(read, entry.element, within)),
            _ => Kind::Simple,
        };
        within.pop();
        let made = Type::new(entry.name.clone(), oid, kind, entry.schema.clone());
        self.types.insert(oid, made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composite(fields: &[u32]) -> Entry {
        Entry {
            name: "t".to_owned(),
            schema: "public".to_owned(),
            kind: "c".to_owned(),
            element: 0,
            base: 0,
            range_of: 0,
            labels: Vec::new(),
            field_names: fields.iter().map(|oid| format!("f{oid}")).collect(),
            field_types: fields.to_vec(),
            is_array: false,
        }
    }

    #[test]
    fn types_that_hold_each_other_many_times_are_made_once_each() {
        // A server, or someone in its place, says so: ten fields each, a hundred types deep, in a circle.
        let mut catalog = Catalog::default();
        for oid in 100_000..100_100 {
            let next = if oid == 100_099 { 100_000 } else { oid + 1 };
            catalog.read.insert(oid, composite(&[next; 10]));
        }
        catalog.take_over(&[100_000, 7_777_777]);
        assert!((100_000..100_100).all(|oid| catalog.knows(oid)));
        assert!(matches!(catalog.find(100_000).kind(), Kind::Composite(fields) if fields.len() == 10));
        // What nobody knows has no name, and is not asked for again.
        assert!(catalog.knows(7_777_777) && catalog.find(7_777_777).name().is_empty());
        assert_eq!(catalog.find(23), Type::INT4);
    }
}
