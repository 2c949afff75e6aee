//! From header files to a [`Model`].

use std::path::Path;

use crate::error::Error;
use crate::layout::lay_out;
use crate::lexer::words;
use crate::model::{Category, Constant, Enum, Field, Keyword, Kind, Model, Struct, Tag};
use crate::parse::{Declarations, RawField, RawStruct, declarations};

/// The headers that are read, relative to the folder `libpg_query`, what is embedded before what embeds it.
/// A build script that generates from them says `rerun-if-changed` for each.
pub const HEADERS: &[&str] = &[
    "src/postgres/include/pg_config.h",
    "src/postgres/include/nodes/nodetags.h",
    "src/postgres/include/nodes/nodes.h",
    "src/postgres/include/nodes/bitmapset.h",
    "src/postgres/include/nodes/pg_list.h",
    "src/postgres/include/nodes/value.h",
    "src/postgres/include/nodes/lockoptions.h",
    "src/postgres/include/access/cmptype.h",
    "src/postgres/include/nodes/primnodes.h",
    "src/postgres/include/nodes/parsenodes.h",
    "src/postgres/include/gram.h",
    "src/postgres/include/parser/kwlist.h",
];

/// The enum of the grammar's tokens in gram.h.
const TOKENS: &str = "yytokentype";

/// Reads the headers of libpg_query's source, the folder that [`source()`](crate::source()) finds.
///
/// # Errors
/// [`Error::Io`] for a header that cannot be read, [`Error::Syntax`] for C that this reader does not know,
/// [`Error::Model`] where a field's type is declared nowhere.
pub fn read(source: &Path) -> Result<Model, Error> {
    let mut all = Declarations::default();
    let mut model = Model::default();
    for header in HEADERS {
        let path = source.join(header);
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, error))?;
        let syntax = |(line, reason)| Error::Syntax { path: path.clone(), line, reason };
        if header.ends_with("nodetags.h") {
            model.tags = tags(&text).map_err(syntax)?;
        } else if header.ends_with("kwlist.h") {
            model.keywords = keywords(&text).map_err(syntax)?;
        } else {
            let found = words(&text).map_err(syntax)?;
            if let Some((_, version)) = found.defines.iter().find(|(name, _)| name == "PG_VERSION_NUM") {
                model.version = u32::try_from(*version).unwrap_or_default();
            }
            let declared = declarations(&found.words, &found.defines).map_err(syntax)?;
            all.structs.extend(declared.structs);
            all.enums.extend(declared.enums);
            all.aliases.extend(declared.aliases);
        }
    }
    assemble(&all, &mut model)?;
    check(&model)?;
    Ok(model)
}

/// `T_Alias = 2,` line by line: nodetags.h is a piece of an enum.
fn tags(text: &str) -> Result<Vec<Tag>, (u32, String)> {
    let whole = format!("enum NodeTag {{{text}}};");
    let found = words(&whole)?;
    let declared = declarations(&found.words, &found.defines)?;
    let constants = declared.enums.first().map(|one| one.constants.as_slice()).unwrap_or_default();
    constants
        .iter()
        .map(|constant| match (constant.name.strip_prefix("T_"), u32::try_from(constant.value)) {
            (Some(name), Ok(value)) => Ok(Tag { name: name.to_owned(), value }),
            _ => Err((1, format!("{} is no node tag", constant.name))),
        })
        .collect()
}

/// `PG_KEYWORD("name", TOKEN, CATEGORY, LABEL)` line by line.
fn keywords(text: &str) -> Result<Vec<Keyword>, (u32, String)> {
    let mut found = Vec::new();
    for (line, text) in (1_u32..).zip(text.lines()) {
        let Some(rest) = text.strip_prefix("PG_KEYWORD(") else { continue };
        let inside = rest.split(')').next().unwrap_or("");
        let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
        let keyword = match parts.as_slice() {
            [name, token, category, label] => keyword(name, token, category, label),
            _ => None,
        };
        found.push(
            keyword.ok_or_else(|| (line, format!("`{text}` is no keyword as this reader knows them")))?,
        );
    }
    Ok(found)
}

fn keyword(name: &str, token: &str, category: &str, label: &str) -> Option<Keyword> {
    Some(Keyword {
        name: name.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        token: token.to_owned(),
        category: match category {
            "UNRESERVED_KEYWORD" => Category::Unreserved,
            "COL_NAME_KEYWORD" => Category::ColumnName,
            "TYPE_FUNC_NAME_KEYWORD" => Category::TypeFunctionName,
            "RESERVED_KEYWORD" => Category::Reserved,
            _ => return None,
        },
        bare_label: match label {
            "BARE_LABEL" => true,
            "AS_LABEL" => false,
            _ => return None,
        },
    })
}

/// Puts declarations of all headers together.
fn assemble(all: &Declarations, model: &mut Model) -> Result<(), Error> {
    for one in &all.enums {
        if one.name == TOKENS {
            model.tokens.clone_from(&one.constants);
        } else if one.name != "NodeTag" {
            model.enums.push(Enum { name: one.name.clone(), constants: one.constants.clone() });
        }
    }
    for raw in all.structs.iter().filter(|raw| is_node(raw, all)) {
        let mut one = Struct {
            name: raw.name.clone(),
            tag: tag(model, &raw.name),
            is_union: raw.is_union,
            fields: raw.fields.iter().map(|field| typed(field, all)).collect::<Result<_, _>>()?,
            size: 0,
            align: 0,
        };
        lay_out(&mut one, &model.structs)?;
        model.structs.push(one);
    }
    for (new, old) in &all.aliases {
        if let (Some(number), Some(like)) = (tag(model, new), model.find_struct(old)) {
            let alias = Struct { name: new.clone(), tag: Some(number), ..like.clone() };
            model.structs.push(alias);
        }
    }
    Ok(())
}

fn tag(model: &Model, name: &str) -> Option<u32> {
    model.tags.iter().find(|tag| tag.name == name).map(|tag| tag.value)
}

/// Whether a struct is a node, is embedded by nodes as their beginning, or is one of the two unions of nodes.
fn is_node(raw: &RawStruct, all: &Declarations) -> bool {
    let Some(first) = raw.fields.first() else { return false };
    if raw.is_union {
        return matches!(raw.name.as_str(), "ListCell" | "ValUnion");
    }
    if first.stars != 0 || first.flexible {
        return false;
    }
    let embedded = all.structs.iter().find(|other| other.name == first.base);
    first.base == "NodeTag" || embedded.is_some_and(|inner| !inner.is_union && is_node(inner, all))
}

/// Whether a struct of this name is abstract: a beginning of others, never a node of its own type.
fn is_abstract(name: &str) -> bool {
    matches!(name, "Node" | "Expr" | "JsonTablePlan")
}

fn typed(raw: &RawField, all: &Declarations) -> Result<Field, Error> {
    let is_declared = |name: &str| all.structs.iter().any(|one| one.name == name);
    let kind = match (raw.base.as_str(), raw.stars) {
        ("NodeTag", 0) => Kind::Tag,
        ("bool", 0) => Kind::Bool,
        ("char", 0) => Kind::Char,
        ("int16" | "AttrNumber", 0) => Kind::Int { bytes: 2, signed: true },
        ("int" | "int32", 0) => Kind::Int { bytes: 4, signed: true },
        (
            "Oid" | "Index" | "uint32" | "bits32" | "SubTransactionId" | "RelFileNumber" | "TransactionId",
            0,
        ) => Kind::Int { bytes: 4, signed: false },
        ("int64", 0) => Kind::Int { bytes: 8, signed: true },
        ("uint64" | "AclMode" | "bitmapword", 0) => Kind::Int { bytes: 8, signed: false },
        ("long", 0) => Kind::Long,
        ("double" | "Cost" | "Cardinality" | "Selectivity", 0) => Kind::Float,
        ("ParseLoc", 0) => Kind::Location,
        ("Datum", 0) => Kind::Datum,
        ("char", 1) => Kind::Str,
        ("void", 1) => Kind::Void,
        ("List", 1) => Kind::List,
        ("Bitmapset", 1) => Kind::Bitmapset,
        ("ListCell", 1) => Kind::Cells,
        (name, 1) if is_abstract(name) => Kind::Node,
        (name, 0) if all.enums.iter().any(|one| one.name == name) => Kind::Enum(name.to_owned()),
        (name, 1) if is_declared(name) => Kind::Pointer(name.to_owned()),
        (name, 0) if is_declared(name) => Kind::Embedded(name.to_owned()),
        (name, stars) => {
            let reason = format!("the field {} is of type {name} {}", raw.name, "*".repeat(stars));
            return Err(Error::Model(format!("{reason}, which no header read here declares")));
        }
    };
    let stars = if raw.stars == 0 { String::new() } else { format!(" {}", "*".repeat(raw.stars)) };
    Ok(Field {
        name: raw.name.clone(),
        c_type: format!("{}{stars}{}", raw.base, if raw.flexible { "[]" } else { "" }),
        kind: if raw.flexible { Kind::Flexible(Box::new(kind)) } else { kind },
        offset: 0,
        equal_ignore: raw.attributes.iter().any(|attribute| attribute == "equal_ignore"),
    })
}

/// What every generator relies on; where it does not hold the reader has missed something.
fn check(model: &Model) -> Result<(), Error> {
    let fault = |reason: String| Err(Error::Model(reason));
    if model.version == 0 {
        return fault("pg_config.h names no PG_VERSION_NUM".to_owned());
    }
    for one in model.structs.iter().filter(|one| !one.is_union) {
        let starts_with_tag =
            matches!(one.fields.first().map(|field| &field.kind), Some(Kind::Tag | Kind::Embedded(_)));
        if !starts_with_tag {
            return fault(format!("{} does not begin with a tag", one.name));
        }
        if one.tag.is_none() && !is_abstract(&one.name) {
            return fault(format!("{} has no node tag", one.name));
        }
        for field in &one.fields {
            if let Kind::Pointer(name) = &field.kind
                && model.find_struct(name).is_none_or(|target| target.tag.is_none())
            {
                return fault(format!("{}.{} points to {name}, which is no node", one.name, field.name));
            }
        }
    }
    let token = |name: &str| model.tokens.iter().any(|Constant { name: token, .. }| token == name);
    match model.keywords.iter().find(|keyword| !token(&keyword.token)) {
        Some(keyword) => fault(format!("the token {} of a keyword is not in gram.h", keyword.token)),
        None => Ok(()),
    }
}
