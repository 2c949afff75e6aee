//! Writes the kind and the name of an object, for ALTER, DROP, SECURITY LABEL and COMMENT.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{List, Node, ObjectType, ObjectWithArgs, RangeVar, View};

/// The keywords of a kind of object after ALTER or DROP, with a space at the end. `None` if these statements do not
/// have this kind.
fn keywords(kind: ObjectType) -> Option<&'static str> {
    Some(match kind {
        ObjectType::ObjectAccessMethod => "ACCESS METHOD ",
        ObjectType::ObjectAggregate => "AGGREGATE ",
        ObjectType::ObjectCast => "CAST ",
        ObjectType::ObjectColumn => "COLUMN ",
        ObjectType::ObjectCollation => "COLLATION ",
        ObjectType::ObjectConversion => "CONVERSION ",
        ObjectType::ObjectDatabase => "DATABASE ",
        ObjectType::ObjectDomain | ObjectType::ObjectDomconstraint => "DOMAIN ",
        ObjectType::ObjectEventTrigger => "EVENT TRIGGER ",
        ObjectType::ObjectExtension => "EXTENSION ",
        ObjectType::ObjectFdw => "FOREIGN DATA WRAPPER ",
        ObjectType::ObjectForeignServer => "SERVER ",
        ObjectType::ObjectForeignTable => "FOREIGN TABLE ",
        ObjectType::ObjectFunction => "FUNCTION ",
        ObjectType::ObjectIndex => "INDEX ",
        ObjectType::ObjectLanguage => "LANGUAGE ",
        ObjectType::ObjectLargeobject => "LARGE OBJECT ",
        ObjectType::ObjectMatview => "MATERIALIZED VIEW ",
        ObjectType::ObjectOpclass => "OPERATOR CLASS ",
        ObjectType::ObjectOperator => "OPERATOR ",
        ObjectType::ObjectOpfamily => "OPERATOR FAMILY ",
        ObjectType::ObjectPolicy => "POLICY ",
        ObjectType::ObjectProcedure => "PROCEDURE ",
        ObjectType::ObjectPublication => "PUBLICATION ",
        ObjectType::ObjectRole => "ROLE ",
        ObjectType::ObjectRoutine => "ROUTINE ",
        ObjectType::ObjectRule => "RULE ",
        ObjectType::ObjectSchema => "SCHEMA ",
        ObjectType::ObjectSequence => "SEQUENCE ",
        ObjectType::ObjectSubscription => "SUBSCRIPTION ",
        ObjectType::ObjectStatisticExt => "STATISTICS ",
        ObjectType::ObjectTable | ObjectType::ObjectTabconstraint => "TABLE ",
        ObjectType::ObjectTablespace => "TABLESPACE ",
        ObjectType::ObjectTransform => "TRANSFORM ",
        ObjectType::ObjectTrigger => "TRIGGER ",
        ObjectType::ObjectTsconfiguration => "TEXT SEARCH CONFIGURATION ",
        ObjectType::ObjectTsdictionary => "TEXT SEARCH DICTIONARY ",
        ObjectType::ObjectTsparser => "TEXT SEARCH PARSER ",
        ObjectType::ObjectTstemplate => "TEXT SEARCH TEMPLATE ",
        ObjectType::ObjectType | ObjectType::ObjectAttribute => "TYPE ",
        ObjectType::ObjectView => "VIEW ",
        ObjectType::ObjectAmop
        | ObjectType::ObjectAmproc
        | ObjectType::ObjectDefault
        | ObjectType::ObjectDefacl
        | ObjectType::ObjectParameterAcl
        | ObjectType::ObjectPublicationNamespace
        | ObjectType::ObjectPublicationRel
        | ObjectType::ObjectUserMapping => return None,
    })
}

/// The two required elements of a list.
fn pair<'a>(list: List<'a>, place: &str) -> Result<(Node<'a>, Node<'a>), DeparseError> {
    let mut nodes = list.nodes();
    Ok((required(nodes.next(), place)?, required(nodes.next(), place)?))
}

impl Deparser<'_> {
    /// The keywords of a kind of object. Ends with a space.
    pub(super) fn object_kind(&mut self, kind: ObjectType) -> DeparseResult {
        let keywords = keywords(kind).ok_or_else(|| {
            DeparseError::new(format!("an object of the kind {} has no keyword", kind.c_name()))
        })?;
        self.str(keywords);
        Ok(())
    }

    /// The name of an object, in the form that the grammar has for its kind.
    pub(super) fn object(&mut self, kind: ObjectType, object: Option<Node<'_>>) -> DeparseResult {
        let object = required(object, "an object")?;
        match object.view() {
            View::String(name) => {
                self.ident(name.sval());
                Ok(())
            }
            View::TypeName(name) => self.type_name(name),
            View::ObjectWithArgs(object) => self.object_with_args(kind, object),
            View::List(names) => self.object_by_names(kind, names),
            View::Integer(_) | View::Float(_) => self.value(object, Context::Constant),
            other => Err(DeparseError::misplaced(other.tag(), "an object")),
        }
    }

    fn object_with_args(&mut self, kind: ObjectType, object: ObjectWithArgs<'_>) -> DeparseResult {
        match kind {
            ObjectType::ObjectAggregate => self.aggregate_with_argtypes(object),
            ObjectType::ObjectOperator => self.operator_with_argtypes(object),
            _ => self.function_with_argtypes(object),
        }
    }

    fn object_by_names(&mut self, kind: ObjectType, names: List<'_>) -> DeparseResult {
        match kind {
            ObjectType::ObjectOpclass | ObjectType::ObjectOpfamily => {
                self.any_name_skip_first(names)?;
                self.str(" USING ");
                self.ident(string_of(names.first())?);
            }
            ObjectType::ObjectPolicy | ObjectType::ObjectRule | ObjectType::ObjectTrigger => {
                self.ident(string_of(names.last())?);
                self.str(" ON ");
                self.any_name_skip_last(names)?;
            }
            ObjectType::ObjectCast => {
                let (from, to) = pair(names, "a type of a cast")?;
                self.char('(');
                self.type_name(required_node(Some(from), "a type of a cast")?)?;
                self.str(" AS ");
                self.type_name(required_node(Some(to), "a type of a cast")?)?;
                self.char(')');
            }
            ObjectType::ObjectTransform => {
                let (of, language) = pair(names, "the type or the language of a transform")?;
                self.str("FOR ");
                self.type_name(required_node(Some(of), "the type of a transform")?)?;
                self.str(" LANGUAGE ");
                self.ident(string_of(Some(language))?);
            }
            _ => self.any_name(names)?,
        }
        Ok(())
    }

    /// A required table, view or similar object.
    pub(super) fn relation(&mut self, relation: Option<RangeVar<'_>>) -> DeparseResult {
        self.range_var(required(relation, "a table")?, Context::None)
    }
}
