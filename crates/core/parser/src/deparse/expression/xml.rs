//! Writes functions of XML.

use super::precedence::{Precedence, Side};
use crate::deparse::context::Context;
use crate::deparse::need::{int_of, required, required_element, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AConst, Boolean, List, Node, RangeTableFunc, RangeTableFuncCol, ResTarget, XmlExpr, XmlExprOp,
    XmlOptionType, XmlSerialize,
};

/// The clause STANDALONE of XMLROOT, for each value of PostgreSQL's `XmlStandaloneType` (utils/xml.h). The last value
/// means no clause.
const STANDALONE: [&str; 4] = [", standalone yes", ", standalone no", ", standalone no value", ""];

impl Deparser<'_> {
    /// A function of XML, or IS DOCUMENT.
    pub(in crate::deparse) fn xml_expr(&mut self, node: XmlExpr<'_>, context: Context) -> DeparseResult {
        match node.op() {
            XmlExprOp::IsXmlconcat => {
                self.str("xmlconcat(");
                self.expr_list(node.args())?;
            }
            XmlExprOp::IsXmlelement => self.xml_element(node)?,
            XmlExprOp::IsXmlforest => {
                self.str("xmlforest(");
                self.xml_attribute_list(node.named_args())?;
            }
            XmlExprOp::IsXmlparse => {
                self.str("xmlparse(");
                self.xml_option(node.xmloption());
                self.expr(required_element(node.args(), 0, "what XMLPARSE reads")?, Context::AExpr)?;
                if preserves_whitespace(node.args()) {
                    self.str(" PRESERVE WHITESPACE");
                }
            }
            XmlExprOp::IsXmlpi => {
                self.str("xmlpi(name ");
                self.ident(required(node.name(), "an XML name")?);
                if !node.args().is_empty() {
                    self.str(", ");
                    self.expr(required_element(node.args(), 0, "what XMLPI says")?, Context::AExpr)?;
                }
            }
            XmlExprOp::IsXmlroot => self.xml_root(node.args())?,
            XmlExprOp::IsXmlserialize => {
                return Err(DeparseError::new("XMLSERIALIZE is of a kind that only analysed queries have"));
            }
            XmlExprOp::IsDocument => {
                let document = required_element(node.args(), 0, "what is tested by IS DOCUMENT")?;
                self.operand(document, Precedence::Is, Side::Left, context)?;
                self.str(" IS DOCUMENT");
                return Ok(());
            }
        }
        self.char(')');
        Ok(())
    }

    fn xml_element(&mut self, node: XmlExpr<'_>) -> DeparseResult {
        self.str("xmlelement(name ");
        self.ident(required(node.name(), "an XML name")?);
        if !node.named_args().is_empty() {
            self.str(", xmlattributes(");
            self.xml_attribute_list(node.named_args())?;
            self.char(')');
        }
        if !node.args().is_empty() {
            self.str(", ");
            self.expr_list(node.args())?;
        }
        Ok(())
    }

    fn xml_root(&mut self, arguments: List<'_>) -> DeparseResult {
        self.str("xmlroot(");
        self.expr(required_element(arguments, 0, "a document")?, Context::AExpr)?;
        self.str(", version ");
        let version = required_element(arguments, 1, "an XML version")?;
        // The grammar makes a NULL literal from NO VALUE.
        if version.and_then(Node::cast::<AConst<'_>>).is_some_and(AConst::isnull) {
            self.str("no value");
        } else {
            self.expr(version, Context::AExpr)?;
        }
        let standalone: AConst<'_> =
            required_node(required_element(arguments, 2, "standalone")?, "standalone")?;
        let standalone = usize::try_from(int_of(standalone.val())?).ok();
        self.str(standalone.and_then(|choice| STANDALONE.get(choice)).copied().unwrap_or_default());
        Ok(())
    }

    fn xml_option(&mut self, option: XmlOptionType) {
        self.str(match option {
            XmlOptionType::XmloptionDocument => "document ",
            XmlOptionType::XmloptionContent => "content ",
        });
    }

    /// XMLSERIALIZE.
    pub(in crate::deparse) fn xml_serialize(&mut self, node: XmlSerialize<'_>) -> DeparseResult {
        self.str("xmlserialize(");
        self.xml_option(node.xmloption());
        self.expr(node.expr(), Context::AExpr)?;
        self.str(" AS ");
        self.type_name(required(node.type_name(), "the type of XMLSERIALIZE")?)?;
        if node.indent() {
            self.str(" INDENT");
        }
        self.char(')');
        Ok(())
    }

    /// `xml_attribute_list`.
    pub(in crate::deparse) fn xml_attribute_list(&mut self, list: List<'_>) -> DeparseResult {
        self.separated(list, |deparser, node| {
            let attribute: ResTarget<'_> = required_node(node, "an XML attribute")?;
            deparser.expr(attribute.val(), Context::AExpr)?;
            deparser.xml_name(attribute);
            Ok(())
        })
    }

    /// `xml_namespace_list`.
    pub(in crate::deparse) fn xml_namespace_list(&mut self, list: List<'_>) -> DeparseResult {
        self.separated(list, |deparser, node| {
            let namespace: ResTarget<'_> = required_node(node, "an XML namespace")?;
            if namespace.name().is_none() {
                deparser.str("DEFAULT ");
            }
            deparser.b_expr(namespace.val())?;
            deparser.xml_name(namespace);
            Ok(())
        })
    }

    fn xml_name(&mut self, target: ResTarget<'_>) {
        if let Some(name) = target.name() {
            self.str(" AS ");
            self.ident(name);
        }
    }

    /// XMLTABLE.
    pub(in crate::deparse) fn range_table_func(&mut self, node: RangeTableFunc<'_>) -> DeparseResult {
        if node.lateral() {
            self.str("LATERAL ");
        }
        self.str("xmltable(");
        if !node.namespaces().is_empty() {
            self.str("xmlnamespaces(");
            self.xml_namespace_list(node.namespaces())?;
            self.str("), ");
        }
        self.char('(');
        self.expr(node.rowexpr(), Context::None)?;
        self.str(") PASSING ");
        self.c_expr(node.docexpr())?;
        self.str(" COLUMNS ");
        self.separated(node.columns(), |deparser, column| {
            deparser.range_table_func_col(required_node(column, "a column of XMLTABLE")?)
        })?;
        self.str(") ");
        if let Some(alias) = node.alias() {
            self.str("AS ");
            self.alias(alias)?;
        }
        self.trim();
        Ok(())
    }

    /// `xmltable_column_el`.
    pub(in crate::deparse) fn range_table_func_col(&mut self, node: RangeTableFuncCol<'_>) -> DeparseResult {
        self.ident(required(node.colname(), "a column's name")?);
        self.char(' ');
        if node.for_ordinality() {
            self.str("FOR ORDINALITY ");
        } else {
            self.type_name(required(node.type_name(), "a column's type")?)?;
            self.char(' ');
            if node.colexpr().is_some() {
                self.str("PATH ");
                self.b_expr(node.colexpr())?;
                self.char(' ');
            }
            if node.coldefexpr().is_some() {
                self.str("DEFAULT ");
                self.b_expr(node.coldefexpr())?;
                self.char(' ');
            }
            if node.is_not_null() {
                self.str("NOT NULL ");
            }
        }
        self.trim();
        Ok(())
    }
}

/// Whether the second argument of XMLPARSE says PRESERVE WHITESPACE.
fn preserves_whitespace(arguments: List<'_>) -> bool {
    let constant = arguments.get(1).flatten().and_then(Node::cast::<AConst<'_>>).and_then(AConst::val);
    constant.and_then(Node::cast::<Boolean<'_>>).is_some_and(Boolean::boolval)
}
