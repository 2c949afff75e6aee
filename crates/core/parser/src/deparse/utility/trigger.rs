//! Writes CREATE TRIGGER and event triggers.

use crate::deparse::context::Context;
use crate::deparse::names::string_of;
use crate::deparse::need::{list_of, required, required_node};
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{
    AlterEventTrigStmt, CreateEventTrigStmt, CreateTrigStmt, DefElem, List, TriggerTransition,
};

/// `TRIGGER_TYPE_UPDATE`.
const UPDATE: i16 = 1 << 4;
/// The events of a trigger (`TRIGGER_TYPE_...`), in the order in which they are written.
const EVENTS: [(i16, &str); 4] =
    [(1 << 2, "INSERT "), (1 << 3, "DELETE "), (UPDATE, "UPDATE "), (1 << 5, "TRUNCATE ")];

impl Deparser<'_> {
    pub(in crate::deparse) fn create_trig_stmt(&mut self, statement: CreateTrigStmt<'_>) -> DeparseResult {
        self.str(if statement.replace() { "CREATE OR REPLACE " } else { "CREATE " });
        self.str(if statement.isconstraint() { "CONSTRAINT TRIGGER " } else { "TRIGGER " });
        self.ident(required(statement.trigname(), "a trigger")?);
        self.str(match statement.timing() {
            0 => " AFTER ",
            2 => " BEFORE ",
            64 => " INSTEAD OF ",
            _ => return Err(DeparseError::new("a trigger must be BEFORE, AFTER or INSTEAD OF")),
        });
        self.trigger_events(statement)?;
        self.str("ON ");
        self.relation(statement.relation())?;
        self.char(' ');
        self.trigger_options(statement)?;
        if let Some(condition) = statement.when_clause() {
            self.str("WHEN (");
            self.expr(Some(condition), Context::AExpr)?;
            self.str(") ");
        }
        self.str("EXECUTE FUNCTION ");
        self.func_name(statement.funcname())?;
        self.char('(');
        self.literals(statement.args())?;
        self.char(')');
        Ok(())
    }

    fn trigger_events(&mut self, statement: CreateTrigStmt<'_>) -> DeparseResult {
        let events = EVENTS.iter().filter(|(event, _)| statement.events() & event != 0);
        for (index, (event, word)) in events.enumerate() {
            if index > 0 {
                self.str("OR ");
            }
            self.str(word);
            if *event == UPDATE && !statement.columns().is_empty() {
                self.str("OF ");
                self.column_list(statement.columns())?;
                self.char(' ');
            }
        }
        Ok(())
    }

    fn trigger_options(&mut self, statement: CreateTrigStmt<'_>) -> DeparseResult {
        if !statement.transition_rels().is_empty() {
            self.str("REFERENCING ");
            for transition in statement.transition_rels() {
                self.trigger_transition(required_node(transition, "a transition table")?)?;
                self.char(' ');
            }
        }
        if let Some(relation) = statement.constrrel() {
            self.str("FROM ");
            self.range_var(relation, Context::None)?;
            self.char(' ');
        }
        if statement.deferrable() {
            self.str("DEFERRABLE ");
        }
        if statement.initdeferred() {
            self.str("INITIALLY DEFERRED ");
        }
        if statement.row() {
            self.str("FOR EACH ROW ");
        }
        Ok(())
    }

    fn trigger_transition(&mut self, transition: TriggerTransition<'_>) -> DeparseResult {
        self.str(if transition.is_new() { "NEW " } else { "OLD " });
        self.str(if transition.is_table() { "TABLE " } else { "ROW " });
        self.ident(required(transition.name(), "the name of a transition table")?);
        Ok(())
    }

    fn literals(&mut self, strings: List<'_>) -> DeparseResult {
        self.separated(strings, |this, string| {
            this.string_literal(string_of(string)?);
            Ok(())
        })
    }

    pub(in crate::deparse) fn create_event_trig_stmt(
        &mut self,
        statement: CreateEventTrigStmt<'_>,
    ) -> DeparseResult {
        self.str("CREATE EVENT TRIGGER ");
        self.ident(required(statement.trigname(), "a trigger")?);
        self.str(" ON ");
        self.ident(required(statement.eventname(), "an event")?);
        for (index, filter) in statement.whenclause().into_iter().enumerate() {
            let filter = required_node::<DefElem<'_>>(filter, "a condition of an event trigger")?;
            self.str(if index == 0 { " WHEN " } else { " AND " });
            self.ident(required(filter.defname(), "a variable of an event trigger")?);
            self.str(" IN (");
            self.literals(list_of(filter.arg(), "values")?)?;
            self.char(')');
        }
        self.str(" EXECUTE FUNCTION ");
        self.func_name(statement.funcname())?;
        self.str("()");
        Ok(())
    }

    pub(in crate::deparse) fn alter_event_trig_stmt(
        &mut self,
        statement: AlterEventTrigStmt<'_>,
    ) -> DeparseResult {
        self.str("ALTER EVENT TRIGGER ");
        self.ident(required(statement.trigname(), "a trigger")?);
        self.str(match statement.tgenabled() {
            'O' => " ENABLE",
            'R' => " ENABLE REPLICA",
            'A' => " ENABLE ALWAYS",
            'D' => " DISABLE",
            other => {
                return Err(DeparseError::new(format!("{other:?} is not a letter for enabling a trigger")));
            }
        });
        Ok(())
    }
}
