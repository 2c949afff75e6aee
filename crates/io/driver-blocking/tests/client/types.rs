//! Types of the catalog, and values at their extremes.

use std::collections::HashMap;

use trunkline_driver_blocking::types::{Kind, Type};
use trunkline_probes::Stage;

use crate::place::everywhere;

trunkline_probes::probes! {
    types_of_the_catalog_are_looked_up_once, values_come_back_as_they_went, built_in_types_that_postgres_has_are_read,
}

fn types_of_the_catalog_are_looked_up_once(stage: &Stage) {
    everywhere(stage, |client| {
        client
            .batch_execute(
                "drop schema if exists s cascade; create schema s;
                create type s.mood as enum ('sad', 'Happy'); create domain s.size as int check (value > 0);
                create type s.pair as (a s.mood, b s.size[]); create type s.span as range (subtype = float8);
                set search_path to public",
            )
            .expect("types");
        let rows = client
            .query(
                "select 'Happy'::s.mood, 5::s.size, row('sad', '{1,2}')::s.pair, array['sad']::s.mood[],
                    '[1,2)'::s.span, '{}'::s.span_multirange",
                &[],
            )
            .expect("a row");
        let kinds: Vec<_> = rows.columns().iter().map(|column| column.ty().kind().clone()).collect();
        assert_eq!(kinds[0], Kind::Enum(vec!["sad".to_owned(), "Happy".to_owned()]));
        assert_eq!(rows.columns()[0].ty().schema(), "s");
        // A domain is described as what it is over.
        assert_eq!(rows.columns()[1].ty(), &Type::INT4);
        let Kind::Composite(fields) = &kinds[2] else { panic!("{:?}", kinds[2]) };
        assert_eq!(fields[0].name(), "a");
        assert_eq!(fields[0].type_().name(), "mood");
        let Kind::Array(sizes) = fields[1].type_().kind() else { panic!("{:?}", fields[1]) };
        assert_eq!(sizes.kind(), &Kind::Domain(Type::INT4));
        assert!(matches!(&kinds[3], Kind::Array(mood) if mood.name() == "mood"));
        assert_eq!(kinds[4], Kind::Range(Type::FLOAT8));
        assert!(matches!(&kinds[5], Kind::Multirange(of) if of.name() == "span"), "{:?}", kinds[5]);
        let sent = client.query_one("select $1::s.mood::text", &[&Mood("sad")]).expect("a row");
        assert_eq!(sent.get::<&str>(0).expect("a text"), "sad");
        client.batch_execute("drop schema s cascade").expect("done");
    });
}

/// An enum's value by its label.
#[derive(Debug)]
struct Mood(&'static str);

impl trunkline_driver_blocking::types::ToSql for Mood {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut bytes::BytesMut,
    ) -> Result<trunkline_driver_blocking::types::IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(trunkline_driver_blocking::types::IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        ty.name() == "mood"
    }

    trunkline_driver_blocking::types::to_sql_checked!();
}

fn values_come_back_as_they_went(stage: &Stage) {
    everywhere(stage, |client| {
        macro_rules! same {
            ($ty:literal, $($value:expr),+ $(,)?) => {$({
                let value = $value;
                let row = client.query_one(concat!("select $1::", $ty), &[&value]).expect($ty);
                assert_eq!(same_type(&value, row.get(0).expect($ty)), value, $ty);
            })+};
        }
        same!("int2", i16::MIN, i16::MAX);
        same!("int4", i32::MIN, i32::MAX, Some(0), None::<i32>);
        same!("int8", i64::MIN, i64::MAX);
        same!("oid", u32::MAX);
        same!("float4", f32::INFINITY, f32::MIN_POSITIVE);
        same!("float8", f64::NEG_INFINITY, f64::MAX);
        same!("bool", true, false);
        same!("text", String::new(), "größe\u{1F600}".to_owned());
        same!("varchar", "x".repeat(1_000_000));
        same!("bytea", Vec::<u8>::new(), vec![0_u8, 255]);
        same!("int4[]", Vec::<i32>::new(), vec![Some(1), None, Some(i32::MIN)]);
        same!("text[]", vec!["a,b".to_owned(), String::new()]);
        let nan = client.query_one("select 'NaN'::float8", &[]).expect("a row");
        assert!(nan.get::<f64>(0).expect("it").is_nan());
        client
            .query_one("select $1::hstore", &[&HashMap::<String, Option<String>>::new()])
            .expect_err("no such type");
        client.batch_execute("select 1").expect("usable");
    });
}

/// What was read, as the type of what was sent.
fn same_type<T>(_: &T, read: T) -> T {
    read
}

fn built_in_types_that_postgres_has_are_read(stage: &Stage) {
    // Every built-in type that has a binary form and a value: its bytes are there, and its type has a name.
    everywhere(stage, |client| {
        let types = client
            .query(
                "select format_type(oid, null) from pg_type where typtype = 'b' and typsend <> 0 and typnamespace = 11
                 and typisdefined and oid < 10000 and typname not in ('aclitem', '_aclitem') order by oid",
                &[],
            )
            .expect("types");
        assert!(types.len() > 100, "{}", types.len());
        for row in &types {
            let name: &str = row.get(0).expect("a name");
            let found = client
                .query_one(&format!("select null::{name}"), &[])
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!found.columns()[0].ty().name().is_empty(), "{name}");
        }
    });
}
