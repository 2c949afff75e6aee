//! The real headers, and libpg_query's own generated C beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use pg_query_headers::{Category, Kind, Model, read, source};

fn model() -> Result<Model, Box<dyn Error>> {
    Ok(read(&source()?)?)
}

#[test]
fn a_select_has_its_fields() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    assert_eq!(model.version / 10_000, 18);
    let select = model.find_struct("SelectStmt").ok_or("no SelectStmt")?;
    assert_eq!((select.size, select.align), (160, 8));
    let field = |name: &str| select.fields.iter().find(|field| field.name == name).map(|field| &field.kind);
    assert_eq!(field("whereClause"), Some(&Kind::Node));
    assert_eq!(field("fromClause"), Some(&Kind::List));
    assert_eq!(field("limitOption"), Some(&Kind::Enum("LimitOption".to_owned())));
    assert_eq!(field("larg"), Some(&Kind::Pointer("SelectStmt".to_owned())));
    assert_eq!(field("groupDistinct"), Some(&Kind::Bool));
    Ok(())
}

#[test]
fn keywords_tags_and_tokens_are_all_there() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    assert!(model.keywords.is_sorted_by(|one, next| one.name < next.name));
    let select = model.keywords.iter().find(|keyword| keyword.name == "select").ok_or("no select")?;
    assert_eq!(
        (select.token.as_str(), select.category, select.bare_label),
        ("SELECT", Category::Reserved, true)
    );
    assert_eq!(model.tokens.first().map(|token| (token.name.as_str(), token.value)), Some(("IDENT", 258)));
    assert_eq!(model.tags.first().map(|tag| (tag.name.as_str(), tag.value)), Some(("List", 1)));
    let distinct: BTreeSet<u32> = model.tags.iter().map(|tag| tag.value).collect();
    assert_eq!(distinct.len(), model.tags.len());
    Ok(())
}

/// The macro libpg_query's generated writer uses for a field of ours.
fn written(kind: &Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Tag | Kind::Datum => return None,
        Kind::Bool => "BOOL",
        Kind::Char => "CHAR",
        Kind::Int { bytes: 8, signed: false } => "UINT64",
        Kind::Int { signed: false, .. } => "UINT",
        Kind::Int { .. } | Kind::Location => "INT",
        Kind::Long => "LONG",
        Kind::Float => "FLOAT",
        Kind::Enum(_) => "ENUM",
        Kind::Str => "STRING",
        Kind::Node => "NODE_PTR",
        Kind::List => "LIST",
        Kind::Bitmapset => "BITMAPSET",
        Kind::Pointer(_) => "SPECIFIC_NODE_PTR",
        Kind::Embedded(_) => "SPECIFIC_NODE",
        Kind::Cells | Kind::Void | Kind::Flexible(_) => return None,
    })
}

/// Fields libpg_query's writers leave out: parse analysis and the planner set them, not the grammar.
const NOT_WRITTEN: &[(&str, &str)] = &[
    ("Aggref", "aggtranstype"),
    ("Aggref", "aggpresorted"),
    ("CreateStatsStmt", "owner"),
    ("DistinctExpr", "opfuncid"),
    ("GroupingFunc", "cols"),
    ("JsonTablePath", "value"),
    ("JsonTablePathScan", "plan"),
    ("JsonTableSiblingJoin", "plan"),
    ("NullIfExpr", "opfuncid"),
    ("OpExpr", "opfuncid"),
    ("Query", "queryId"),
    ("ScalarArrayOpExpr", "opfuncid"),
    ("ScalarArrayOpExpr", "hashfuncid"),
    ("ScalarArrayOpExpr", "negfuncid"),
    ("Var", "varnosyn"),
    ("Var", "varattnosyn"),
];

/// libpg_query reads the headers by libclang: its writers name every field, in order, with its kind.
#[test]
fn fields_are_those_libpg_query_found_by_libclang() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    let text = std::fs::read_to_string(source()?.join("src/include/pg_query_outfuncs_defs.c"))?;
    let mut theirs: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("WRITE_")) {
        let (kind, rest) = line.split_once("_FIELD(").ok_or("no macro")?;
        let arguments: Vec<&str> = rest.trim_end_matches(");").split(", ").collect();
        let (node, field) = (arguments.first().ok_or("no node")?, arguments.last().ok_or("no field")?);
        theirs.entry((*node).to_owned()).or_default().push(((*field).to_owned(), kind.to_owned()));
    }
    assert!(theirs.len() > 200, "{} nodes", theirs.len());
    for (node, fields) in &theirs {
        let Some(one) = model.find_struct(node) else { return Err(format!("{node} was not read").into()) };
        let ours: Vec<(String, String)> = one
            .fields
            .iter()
            .filter(|field| {
                field.name != "xpr" && !NOT_WRITTEN.contains(&(node.as_str(), field.name.as_str()))
            })
            .filter_map(|field| Some((field.name.clone(), written(&field.kind)?.to_owned())))
            .collect();
        assert_eq!(&ours, fields, "{node}");
    }
    Ok(())
}

#[test]
fn an_enum_carries_letters_and_negative_numbers() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    let value = |name: &str, constant: &str| {
        let found = model.find_enum(name)?;
        found.constants.iter().find(|one| one.name == constant).map(|one| one.value)
    };
    assert_eq!(value("PartitionStrategy", "PARTITION_STRATEGY_LIST"), Some(i64::from(b'l')));
    assert_eq!(value("PartitionRangeDatumKind", "PARTITION_RANGE_DATUM_MINVALUE"), Some(-1));
    assert_eq!(value("AggSplit", "AGGSPLIT_INITIAL_SERIAL"), Some(6));
    assert_eq!(value("TableLikeOption", "CREATE_TABLE_LIKE_ALL"), Some(i64::from(i32::MAX)));
    Ok(())
}
