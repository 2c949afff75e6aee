//! Checks that the methods of the relay's board do not call each other in large circles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use syn::visit::Visit;

use crate::finding::Finding;
use crate::tree::Tree;

/// The folder of the checked type, and its name.
const WATCHED: (&str, &str) = ("crates/core/relay/src", "Board");
/// The most functions of a circle, in which each function can reach each other by calls.
const CIRCLE_MAX: usize = 5;

/// Finds circles of calls that are too large. A function counts if it is a method of the checked type or has an argument of it. Calls in a
/// closure count for the function that makes the closure.
pub(super) fn of_calls(tree: &Tree) -> Vec<Finding> {
    let (folder, watched) = WATCHED;
    let mut functions = Functions { watched, ..Functions::default() };
    for (path, source) in tree.sources.iter().filter(|(path, _)| path.starts_with(folder)) {
        let Ok(file) = &source.syntax else { continue };
        functions.path = path.clone();
        functions.visit_file(file);
    }
    let calls = functions.calls();
    let circles = circles(&calls).into_iter().filter(|circle| circle.len() > CIRCLE_MAX);
    circles
        .map(|circle| {
            let first = &functions.found[circle[0]];
            let names = circle.join(", ");
            let what = format!("{} functions call each other in a circle ({names})", circle.len());
            let remedy = format!(
                "{CIRCLE_MAX} may: do the work that one of them causes after the event (see board/due.rs)"
            );
            Finding::new(&first.path, first.line, what, remedy)
        })
        .collect()
}

struct Function {
    path: PathBuf,
    line: usize,
    /// The names of the functions that it calls with a value of the type, and of the type's functions that it names.
    calls: BTreeSet<String>,
}

/// All functions that count, by name. Functions with the same name count as one.
#[derive(Default)]
struct Functions<'a> {
    watched: &'a str,
    path: PathBuf,
    /// Whether the visitor is inside an `impl` of the checked type.
    inside: bool,
    found: BTreeMap<String, Function>,
}

impl Functions<'_> {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let takes = |input: &syn::FnArg| matches!(input, syn::FnArg::Typed(typed) if names_type(&typed.ty, self.watched));
        if !self.inside && !signature.inputs.iter().any(takes) {
            return;
        }
        let mut calls = Calls { watched: self.watched, names: BTreeSet::new() };
        calls.visit_block(block);
        let name = signature.ident.to_string();
        let function = self.found.entry(name).or_insert_with(|| Function {
            path: self.path.clone(),
            line: signature.ident.span().start().line,
            calls: BTreeSet::new(),
        });
        function.calls.append(&mut calls.names);
    }

    /// The calls among the functions that were found.
    fn calls(&self) -> BTreeMap<&str, Vec<&str>> {
        let known = |name: &String| self.found.get_key_value(name).map(|(name, _)| name.as_str());
        let callees = |name: &String, function: &'_ Function| {
            function.calls.iter().filter(|callee| *callee != name).filter_map(known).collect()
        };
        self.found.iter().map(|(name, function)| (name.as_str(), callees(name, function))).collect()
    }
}

/// Whether a type is the named one, or a reference to it.
fn names_type(ty: &syn::Type, name: &str) -> bool {
    match ty {
        syn::Type::Reference(reference) => names_type(&reference.elem, name),
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == name),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.inside = names_type(&item.self_ty, self.watched);
        syn::visit::visit_item_impl(self, item);
        self.inside = false;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, &item.block);
    }
}

/// Collects the names that a function calls.
struct Calls<'a> {
    watched: &'a str,
    names: BTreeSet<String>,
}

/// Whether an expression is the board: `self`, or a variable or field named `board`.
fn is_board(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Path(path) => path.path.is_ident("self") || path.path.is_ident("board"),
        syn::Expr::Field(field) => matches!(&field.member, syn::Member::Named(name) if name == "board"),
        syn::Expr::Reference(reference) => is_board(&reference.expr),
        syn::Expr::Unary(unary) => is_board(&unary.expr),
        syn::Expr::Paren(paren) => is_board(&paren.expr),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if is_board(&call.receiver) || call.args.iter().any(is_board) {
            self.names.insert(call.method.to_string());
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let (syn::Expr::Path(path), true) = (&*call.func, call.args.iter().any(is_board)) {
            self.names.extend(path.path.segments.last().map(|segment| segment.ident.to_string()));
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let [.., owner, name] = segments.as_slice()
            && (owner == "Self" || owner == self.watched)
        {
            self.names.insert(name.clone());
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        // For macros such as `assert!(self.x())`.
        let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = mac.parse_body_with(parser) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}

/// The groups of names in which each name can reach each other, in order.
pub(super) fn circles<'a>(calls: &BTreeMap<&'a str, Vec<&'a str>>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        calls.keys().map(|name| (*name, reachable(calls, name))).collect();
    let mut circles = BTreeSet::new();
    for (name, from) in &reached {
        if from.contains(name) {
            let back = |other: &&&str| reached.get(**other).is_some_and(|there| there.contains(name));
            circles.insert(from.iter().filter(back).copied().collect::<Vec<&str>>());
        }
    }
    circles.into_iter().collect()
}

/// All names that a function calls, directly or through others.
fn reachable<'a>(calls: &BTreeMap<&'a str, Vec<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = calls.get(from).cloned().unwrap_or_default();
    while let Some(name) = next.pop() {
        if reached.insert(name) {
            next.extend(calls.get(name).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tree;

    /// So many methods that each call the next one: directly, in a closure, through a function with the board as its argument, or as
    /// an associated function. `closes`: the last one calls the first.
    fn ring(count: usize, closes: bool) -> String {
        let call = |n: usize| match n % 4 {
            0 => format!("self.f{n}();"),
            1 => format!("[1].iter().for_each(|_| self.f{n}());"),
            2 => format!("helper{n}(self);"),
            _ => format!("assert!(Self::f{n}(&mut *self));"),
        };
        let next = |n: usize| if n + 1 < count || closes { call((n + 1) % count) } else { String::new() };
        let methods: String =
            (0..count).map(|n| format!("fn f{n}(&mut self) -> bool {{ {} true }}\n", next(n))).collect();
        let helpers: String =
            (0..count).map(|n| format!("fn helper{n}(board: &mut Board) {{ board.f{n}(); }}\n")).collect();
        format!("struct Board;\nimpl Board {{\n{methods}}}\n{helpers}")
    }

    fn found(text: &str) -> Vec<Finding> {
        let (_folder, tree) = tree::of(&[("crates/core/relay/src/board.rs", text)]);
        of_calls(&tree)
    }

    #[test]
    fn a_small_circle_passes_and_a_large_one_does_not() {
        assert_eq!(found(&ring(4, true)), [], "four and a helper");
        let large = found(&ring(5, true));
        assert_eq!(large.len(), 1);
        assert!(large[0].what.contains("f0, f1, f2, f3, f4, helper2"), "{}", large[0]);
    }

    #[test]
    fn a_long_chain_of_calls_is_no_circle() {
        assert_eq!(found(&ring(40, false)), []);
    }

    #[test]
    fn methods_of_other_types_with_the_same_name_do_not_count() {
        let text = "struct Board { other: Other }\nimpl Board { fn a(&mut self) { self.other.b(); self.other.a(); } \
                    fn b(&mut self) { self.a(); } fn c(&mut self) { self.b(); } }\nstruct Other;\n\
                    impl Other { fn a(&self) {} fn b(&self) {} }";
        let (_folder, tree) = tree::of(&[("crates/core/relay/src/board.rs", text)]);
        let mut functions = Functions { watched: "Board", ..Functions::default() };
        let source = tree.sources.get(Path::new("crates/core/relay/src/board.rs")).expect("it is there");
        functions.visit_file(source.syntax.as_ref().expect("Rust"));
        assert_eq!(circles(&functions.calls()), Vec::<Vec<&str>>::new());
    }
}
