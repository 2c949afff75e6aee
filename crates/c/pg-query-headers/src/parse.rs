//! Declarations of one header: structs, unions, enums, plain typedefs. Everything else is passed over.

use crate::lexer::{Word, WordText};
use crate::model::Constant;

/// What one header declares.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) structs: Vec<RawStruct>,
    pub(crate) enums: Vec<RawEnum>,
    /// `typedef OLD NEW;` as (NEW, OLD).
    pub(crate) aliases: Vec<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct RawStruct {
    pub(crate) name: String,
    pub(crate) is_union: bool,
    pub(crate) fields: Vec<RawField>,
}

#[derive(Debug)]
pub(crate) struct RawEnum {
    pub(crate) name: String,
    pub(crate) constants: Vec<Constant>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RawField {
    pub(crate) name: String,
    /// The type's name without `struct`, `const` and stars.
    pub(crate) base: String,
    pub(crate) stars: usize,
    /// Whether it is an array at the struct's end.
    pub(crate) flexible: bool,
    /// The words of its `pg_node_attr(...)`.
    pub(crate) attributes: Vec<String>,
}

/// c.h defines this one; the nodes need nothing else of c.h.
const INT_MAX_NAME: &str = "PG_INT32_MAX";

type Fault = (u32, String);

/// Reads the declarations out of a header's words.
///
/// # Errors
/// The line and what was expected there.
pub(crate) fn declarations(words: &[Word], defines: &[(String, i64)]) -> Result<Declarations, Fault> {
    let mut cursor = Cursor { words, at: 0 };
    let mut found = Declarations::default();
    while let Some(word) = cursor.next() {
        let WordText::Name(name) = &word.text else {
            if word.text == WordText::Mark('{') {
                cursor.skip_until('}')?;
            }
            continue;
        };
        let is_typedef = name == "typedef";
        let keyword = if is_typedef { cursor.next() } else { Some(word) };
        let keyword = keyword.and_then(Word::name).unwrap_or("");
        match keyword {
            "struct" | "union" | "enum" => declared(&mut cursor, keyword, &mut found, defines)?,
            old if is_typedef => {
                if let Some(new) = cursor.alias() {
                    found.aliases.push((new, old.to_owned()));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// What follows `struct`, `union` or `enum`: a body is read, anything else passed over.
fn declared(
    cursor: &mut Cursor<'_>,
    keyword: &str,
    found: &mut Declarations,
    defines: &[(String, i64)],
) -> Result<(), Fault> {
    let name = cursor.peek().and_then(Word::name).map(str::to_owned);
    if name.is_some() {
        cursor.next();
    }
    if !cursor.accept('{') {
        return Ok(());
    }
    let Some(name) = name else {
        // Without a name before the body no node field can be of this type.
        return cursor.skip_until('}');
    };
    if keyword == "enum" {
        let constants = constants(cursor, defines)?;
        found.enums.push(RawEnum { name, constants });
    } else {
        let fields = fields(cursor)?;
        found.structs.push(RawStruct { name, is_union: keyword == "union", fields });
    }
    Ok(())
}

/// `NAME, NAME = value, ... }`.
fn constants(cursor: &mut Cursor<'_>, defines: &[(String, i64)]) -> Result<Vec<Constant>, Fault> {
    let mut found: Vec<Constant> = Vec::new();
    let mut next_value = 0;
    while !cursor.accept('}') {
        let name = cursor.expect_name("a constant of an enum")?;
        if cursor.accept('=') {
            next_value = value(cursor, &found, defines)?;
        }
        found.push(Constant { name, value: next_value });
        next_value += 1;
        if !cursor.accept(',') && !cursor.at('}') {
            return Err(cursor.fault("`,` or `}` after a constant of an enum"));
        }
    }
    Ok(found)
}

/// `12`, `-1`, `1 << 3`, `A | B`: terms from left to right.
fn value(cursor: &mut Cursor<'_>, known: &[Constant], defines: &[(String, i64)]) -> Result<i64, Fault> {
    let mut sum = term(cursor, known, defines)?;
    loop {
        if cursor.accept('|') {
            sum |= term(cursor, known, defines)?;
        } else if cursor.accept('<') {
            if !cursor.accept('<') {
                return Err(cursor.fault("`<<`"));
            }
            let places = term(cursor, known, defines)?;
            let shifted = u32::try_from(places).ok().and_then(|places| sum.checked_shl(places));
            sum = shifted.ok_or_else(|| cursor.fault("a shift of under 64 places"))?;
        } else {
            return Ok(sum);
        }
    }
}

fn term(cursor: &mut Cursor<'_>, known: &[Constant], defines: &[(String, i64)]) -> Result<i64, Fault> {
    let negative = cursor.accept('-');
    if cursor.accept('(') {
        let inner = value(cursor, known, defines)?;
        return if cursor.accept(')') { Ok(inner) } else { Err(cursor.fault("`)`")) };
    }
    let magnitude = match cursor.peek().map(|word| &word.text) {
        Some(WordText::Number(number)) => Some(*number),
        Some(WordText::Name(name)) => known
            .iter()
            .find(|constant| constant.name == *name)
            .map(|constant| constant.value)
            .or_else(|| defines.iter().find(|(define, _)| define == name).map(|(_, value)| *value))
            .or_else(|| (name == INT_MAX_NAME).then_some(i64::from(i32::MAX))),
        _ => None,
    };
    let magnitude = magnitude.ok_or_else(|| cursor.fault("a number or a known constant"))?;
    cursor.next();
    Ok(if negative { -magnitude } else { magnitude })
}

/// The fields up to the closing brace.
fn fields(cursor: &mut Cursor<'_>) -> Result<Vec<RawField>, Fault> {
    cursor.attributes()?;
    let mut found = Vec::new();
    while !cursor.accept('}') {
        found.push(field(cursor)?);
    }
    Ok(found)
}

fn field(cursor: &mut Cursor<'_>) -> Result<RawField, Fault> {
    let mut base = cursor.expect_name("the type of a field")?;
    while matches!(base.as_str(), "const" | "struct" | "union" | "enum" | "unsigned") {
        base = cursor.expect_name("the type of a field")?;
    }
    let mut stars = 0;
    while cursor.accept('*') {
        stars += 1;
    }
    if cursor.at('(') {
        return Err(cursor.fault("a field that is no function"));
    }
    let name = cursor.expect_name("the name of a field")?;
    let flexible = cursor.accept('[');
    if flexible {
        cursor.skip_until(']')?;
    }
    let attributes = cursor.attributes()?;
    if !cursor.accept(';') {
        return Err(cursor.fault("`;` after a field"));
    }
    Ok(RawField { name, base, stars, flexible, attributes })
}

impl Word {
    fn name(&self) -> Option<&str> {
        match &self.text {
            WordText::Name(name) => Some(name),
            _ => None,
        }
    }
}

struct Cursor<'a> {
    words: &'a [Word],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<&'a Word> {
        self.words.get(self.at)
    }

    fn next(&mut self) -> Option<&'a Word> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    fn at(&self, mark: char) -> bool {
        self.peek().is_some_and(|word| word.text == WordText::Mark(mark))
    }

    fn accept(&mut self, mark: char) -> bool {
        let found = self.at(mark);
        self.at += usize::from(found);
        found
    }

    fn expect_name(&mut self, what: &str) -> Result<String, Fault> {
        match self.peek().and_then(Word::name) {
            Some(name) => {
                self.at += 1;
                Ok(name.to_owned())
            }
            None => Err(self.fault(what)),
        }
    }

    /// `NEW;` of a typedef whose old name was read; any longer typedef is none we need.
    fn alias(&mut self) -> Option<String> {
        let new = self.peek()?.name()?.to_owned();
        self.at += 1;
        self.accept(';').then_some(new)
    }

    /// The words of `pg_node_attr(...)`, none if there is none here.
    fn attributes(&mut self) -> Result<Vec<String>, Fault> {
        if self.peek().and_then(Word::name) != Some("pg_node_attr") {
            return Ok(Vec::new());
        }
        self.at += 1;
        if !self.accept('(') {
            return Err(self.fault("`(` after pg_node_attr"));
        }
        let start = self.at;
        self.skip_until(')')?;
        let inside = self.words.get(start..self.at).unwrap_or(&[]);
        Ok(inside.iter().filter_map(|word| word.name().map(str::to_owned)).collect())
    }

    /// Passes over everything up to the mark that closes what was opened just before.
    fn skip_until(&mut self, close: char) -> Result<(), Fault> {
        let open = match close {
            '}' => '{',
            ']' => '[',
            _ => '(',
        };
        let mut depth = 1_usize;
        let start = self.at;
        while let Some(word) = self.next() {
            if word.text == WordText::Mark(open) {
                depth += 1;
            } else if word.text == WordText::Mark(close) {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            }
        }
        self.at = start;
        Err(self.fault(&format!("`{close}` somewhere after that")))
    }

    fn fault(&self, expected: &str) -> Fault {
        let (line, found) = match self.peek() {
            Some(Word { text: WordText::Name(name), line }) => (*line, format!("`{name}`")),
            Some(Word { text: WordText::Number(number), line }) => (*line, number.to_string()),
            Some(Word { text: WordText::Text(text), line }) => (*line, format!("\"{text}\"")),
            Some(Word { text: WordText::Mark(mark), line }) => (*line, format!("`{mark}`")),
            None => (self.words.last().map_or(1, |word| word.line), "the end of the file".to_owned()),
        };
        (line, format!("expected {expected}, found {found}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::words;

    fn read(source: &str) -> Result<Declarations, Fault> {
        let found = words(source)?;
        declarations(&found.words, &found.defines)
    }

    #[test]
    fn enums_count_on_from_what_is_written() -> Result<(), Fault> {
        let found = read(
            "#define FOUR 0x04\n typedef enum Fruit { APPLE, PEAR = 'p', PLUM, FIG = 1 << 3, MIX = FIG | FOUR, NONE = -1, } Fruit;",
        )?;
        let fruit = found.enums.first().ok_or((0, "no enum".to_owned()))?;
        let values: Vec<_> = fruit.constants.iter().map(|one| (one.name.as_str(), one.value)).collect();
        assert_eq!(
            values,
            [("APPLE", 0), ("PEAR", 112), ("PLUM", 113), ("FIG", 8), ("MIX", 12), ("NONE", -1)]
        );
        Ok(())
    }

    #[test]
    fn fields_carry_type_stars_and_attributes() -> Result<(), Fault> {
        let found = read(
            "extern int f(int a);\n static inline int g(void) { if (1) { return 2; } }\n\
             typedef struct Basket\n{\n pg_node_attr(no_copy)\n NodeTag type;\n\
             struct Fruit *fruit pg_node_attr(equal_ignore, read_as(0));\n const char *name;\n uint64 words[N];\n} Basket;",
        )?;
        let basket = found.structs.first().ok_or((0, "no struct".to_owned()))?;
        assert_eq!(basket.name, "Basket");
        let shapes: Vec<_> = basket
            .fields
            .iter()
            .map(|field| (field.base.as_str(), field.stars, field.name.as_str(), field.flexible))
            .collect();
        assert_eq!(
            shapes,
            [
                ("NodeTag", 0, "type", false),
                ("Fruit", 1, "fruit", false),
                ("char", 1, "name", false),
                ("uint64", 0, "words", true)
            ]
        );
        let attributes = basket.fields.get(1).map(|field| field.attributes.clone());
        assert_eq!(attributes.unwrap_or_default(), ["equal_ignore", "read_as"]);
        Ok(())
    }

    #[test]
    fn unions_aliases_and_structs_without_typedef_are_found() -> Result<(), Fault> {
        let found = read(
            "union Either { int a; char *b; };\n struct Plain { NodeTag type; };\n typedef Plain Other;",
        )?;
        assert_eq!(found.structs.iter().map(|one| one.is_union).collect::<Vec<_>>(), [true, false]);
        assert_eq!(found.aliases, [("Other".to_owned(), "Plain".to_owned())]);
        Ok(())
    }

    #[test]
    fn faults_name_line_and_word() {
        assert_eq!(
            read("typedef struct A {\n int *;\n} A;").err(),
            Some((2, "expected the name of a field, found `;`".to_owned()))
        );
        assert_eq!(
            read("enum A {\n B = C\n};").err(),
            Some((2, "expected a number or a known constant, found `C`".to_owned()))
        );
    }
}
