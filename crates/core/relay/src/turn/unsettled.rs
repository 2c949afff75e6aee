//! Whether a client's settings depend on messages that are not answered yet.

/// What the messages of one turn may have done to settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum InTurn {
    #[default]
    Nothing,
    /// The end of a transaction may have restored them to their values before it.
    Restored,
    Set,
}

/// Whether the settings under which the server reads the next message depend on messages that are not answered yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsettled {
    /// What messages of the turn that is being sent may do to the settings.
    in_turn: InTurn,
    /// Whether a message of an earlier turn may change the settings.
    in_earlier_turn: bool,
}

impl Unsettled {
    /// A message that may change settings was sent.
    pub(crate) fn changed(&mut self) {
        self.in_turn = InTurn::Set;
    }

    /// The end of a transaction was sent.
    pub(crate) fn ended(&mut self) {
        self.in_turn = self.in_turn.max(InTurn::Restored);
    }

    /// The end of a turn was sent.
    pub(crate) fn turn_sent(&mut self) {
        self.in_earlier_turn |= std::mem::take(&mut self.in_turn) != InTurn::Nothing;
    }

    /// All turns that were completely sent are answered.
    pub(crate) fn turns_answered(&mut self) {
        self.in_earlier_turn = false;
    }

    /// Whether the settings depend on an earlier turn.
    pub(crate) fn in_earlier_turn(self) -> bool {
        self.in_earlier_turn
    }

    /// Whether the settings depend on the turn that is being sent.
    pub(crate) fn in_turn(self) -> bool {
        self.in_turn != InTurn::Nothing
    }

    /// Whether a message of the turn that is being sent may have set a setting: it may have another value at the turn's
    /// end.
    pub(super) fn is_set_in_turn(self) -> bool {
        self.in_turn == InTurn::Set
    }
}
