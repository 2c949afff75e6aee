//! Whether settings depend on something that is not answered yet.

/// What a turn may have done to settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum InTurn {
    #[default]
    Nothing,
    /// They are what they were before a transaction, and stay that.
    BroughtBack,
    Set,
}

/// Whether the settings under which the server reads what follows depend on something that is not answered yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsettled {
    /// What messages of the turn that is being sent may do to them.
    in_turn: InTurn,
    /// One of a turn before it may.
    before: bool,
}

impl Unsettled {
    /// A message that may change settings was sent.
    pub(crate) fn changed(&mut self) {
        self.in_turn = InTurn::Set;
    }

    /// The end of a transaction was sent.
    pub(crate) fn ended(&mut self) {
        self.in_turn = self.in_turn.max(InTurn::BroughtBack);
    }

    /// The end of a turn was sent.
    pub(crate) fn turn_sent(&mut self) {
        self.before |= std::mem::take(&mut self.in_turn) != InTurn::Nothing;
    }

    /// All turns that were sent whole are answered.
    pub(crate) fn turns_answered(&mut self) {
        self.before = false;
    }

    /// Whether an earlier turn must be answered first.
    pub(crate) fn before(self) -> bool {
        self.before
    }

    /// Whether it cannot be known before the turn is over.
    pub(crate) fn in_turn(self) -> bool {
        self.in_turn != InTurn::Nothing
    }

    /// Whether it may be otherwise at the end of the turn than now.
    pub(super) fn is_set_in_turn(self) -> bool {
        self.in_turn == InTurn::Set
    }
}
