//! The users that were read from `[auth] file`.

use std::path::Path;

use trunkline_session::authentication::Secret as StoredSecret;
use trunkline_session::authentication::userlist::{USERLIST_BYTES_MAX, Userlist};

use super::file::read_text;
use super::secret::Secret;

/// The content of a PgBouncer `userlist.txt`. Two are equal if their files were equal.
#[derive(Clone, Debug, Default)]
pub struct LoadedUserlist {
    list: std::sync::Arc<Userlist>,
    text: Option<Secret>,
}

impl PartialEq for LoadedUserlist {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for LoadedUserlist {}

impl LoadedUserlist {
    /// Reads the file. The error says what is wrong and never shows a password.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let text = read_text(file, USERLIST_BYTES_MAX).map_err(|error| error.to_string())?;
        let list = Userlist::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        Ok(Self { list: list.into(), text: Some(Secret::new(text)) })
    }

    /// Whether the file names the user.
    pub fn has_user(&self, user: &str) -> bool {
        self.list.users.contains_key(user)
    }

    /// The user's password; `None` if the file has no password for the user.
    pub fn password_of(&self, user: &str) -> Option<&StoredSecret> {
        self.list.users.get(user)?.as_ref()
    }

    /// The users' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.users.keys().map(String::as_str)
    }

    /// A line for each user that is named more than once.
    pub(super) fn advice(&self) -> impl Iterator<Item = String> {
        let advice = |user: &str, line: usize| {
            format!("auth.file names user \"{user}\" more than once; only line {line} counts")
        };
        self.list.overridden.iter().map(move |overridden| advice(&overridden.user, overridden.line))
    }
}
