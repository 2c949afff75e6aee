//! What the headers declare, as plain data for generators of code.

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// PostgreSQL's version as its C code has it: 180006 is 18.6.
    pub version: u32,
    /// Node structs and unions in the order of their declaration; those a field embeds come before it.
    pub structs: Vec<Struct>,
    /// Enums of node fields, in the order of their declaration.
    pub enums: Vec<Enum>,
    /// All node tags, also of nodes that no header read here declares.
    pub tags: Vec<Tag>,
    /// SQL's keywords, in ASCII order.
    pub keywords: Vec<Keyword>,
    /// The grammar's tokens of more than one character, with their numbers.
    pub tokens: Vec<Constant>,
}

impl Model {
    /// The struct of this C name.
    #[must_use]
    pub fn find_struct(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|one| one.name == name)
    }

    /// The enum of this C name.
    #[must_use]
    pub fn find_enum(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|one| one.name == name)
    }

    /// The structs that are nodes of their own: those with a tag.
    pub fn nodes(&self) -> impl Iterator<Item = &Struct> {
        self.structs.iter().filter(|one| one.tag.is_some())
    }
}

/// A C struct, or a union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Struct {
    /// Its name in C.
    pub name: String,
    /// The number of its node tag; none for unions and for what is only embedded.
    pub tag: Option<u32>,
    /// Whether all fields lie on the same place.
    pub is_union: bool,
    /// The fields in C's order, the tag (or what embeds it) included.
    pub fields: Vec<Field>,
    /// `sizeof`, bytes, on a target whose pointers and `long` have 8.
    pub size: usize,
    /// `_Alignof`, bytes.
    pub align: usize,
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name in C.
    pub name: String,
    /// Its type in C, as written except for spaces: `List *`.
    pub c_type: String,
    /// What it holds.
    pub kind: Kind,
    /// `offsetof`, bytes.
    pub offset: usize,
    /// Whether PostgreSQL's `equal()` is told to ignore it (locations are ignored besides).
    pub equal_ignore: bool,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The node's own tag: the first field.
    Tag,
    /// `bool`, a byte.
    Bool,
    /// `char`, a letter that stands for something.
    Char,
    /// An integer of this many bytes.
    Int {
        /// 2, 4 or 8.
        bytes: usize,
        /// Whether it has a sign.
        signed: bool,
    },
    /// `long`, 8 bytes where this is used.
    Long,
    /// `double`.
    Float,
    /// A place in the text, in bytes; -1 is unknown.
    Location,
    /// An enum of this name.
    Enum(String),
    /// `Datum`: never set by the parser.
    Datum,
    /// A C string, or NULL.
    Str,
    /// A node of any type, or NULL.
    Node,
    /// A list, or NULL for an empty one.
    List,
    /// A bitmap set, or NULL for an empty one.
    Bitmapset,
    /// A node of the struct of this name, or NULL.
    Pointer(String),
    /// The struct or union of this name, in place.
    Embedded(String),
    /// A pointer to list cells (`List.elements`).
    Cells,
    /// A pointer to anything (`ListCell.ptr_value`).
    Void,
    /// An array of what is named, as long as some other field says: the last field.
    Flexible(Box<Kind>),
}

/// An enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enum {
    /// Its name in C.
    pub name: String,
    /// Its constants in C's order.
    pub constants: Vec<Constant>,
}

/// A named number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// Its name in C.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// A node tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its name without `T_`: the name of the node.
    pub name: String,
    /// Its number.
    pub value: u32,
}

/// A keyword of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyword {
    /// In lower case.
    pub name: String,
    /// The name of the grammar's token.
    pub token: String,
    /// Where it may be used as a name.
    pub category: Category,
    /// Whether it may be a column's label without AS.
    pub bare_label: bool,
}

/// Where a keyword may be used as a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// Everywhere.
    Unreserved,
    /// As a column's or table's name, not a function's or type's.
    ColumnName,
    /// As a function's or type's name, not a column's or table's.
    TypeFunctionName,
    /// Only as a label after AS.
    Reserved,
}
