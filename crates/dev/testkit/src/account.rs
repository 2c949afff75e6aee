//! The account that runs PostgreSQL's processes, because PostgreSQL refuses to run as root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Accounts that every Debian and Ubuntu has, the preferred one first.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// The account that runs PostgreSQL: our own, or a system user if we are root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// The user that runs the tests.
    Ourselves,
    /// Another user and its main group, by number.
    Other {
        /// User id.
        uid: u32,
        /// Group id.
        gid: u32,
    },
}

impl Account {
    /// Chooses the account: our own, unless we are root.
    ///
    /// # Errors
    /// When we are root and no suitable system user exists.
    pub fn choose() -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Ourselves);
        }
        let passwd = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        CANDIDATES.iter().find_map(|name| from_passwd(&passwd, name)).map_or_else(
            || bail!("PostgreSQL does not run as root, and there is no user {}", CANDIDATES.join(" or ")),
            Ok,
        )
    }

    /// A command that runs `program` as this account.
    pub fn command(self, program: &Path) -> Command {
        match self {
            Self::Ourselves => Command::new(program),
            Self::Other { uid, gid } => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}"));
                command.arg("--clear-groups").arg("--").arg(program);
                command.env("HOME", "/");
                command
            }
        }
    }

    /// The user's number.
    pub fn uid(self) -> u32 {
        match self {
            Self::Ourselves => rustix::process::geteuid().as_raw(),
            Self::Other { uid, .. } => uid,
        }
    }

    /// Makes this account the owner of a file or folder.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn give(self, path: &Path) -> Result<()> {
        let Self::Other { uid, gid } = self else { return Ok(()) };
        chown(path, Some(uid), Some(gid)).with_context(|| format!("cannot hand {} over", path.display()))
    }

    /// Whether this account can reach files in `folder`: it must be able to enter every folder on the way.
    pub fn can_enter(self, folder: &Path) -> bool {
        let Self::Other { uid, gid } = self else { return true };
        folder.ancestors().filter(|ancestor| ancestor.exists()).all(|ancestor| {
            let Ok(meta) = fs::metadata(ancestor) else { return false };
            let pass = if meta.uid() == uid {
                0o100
            } else if meta.gid() == gid {
                0o010
            } else {
                0o001
            };
            meta.mode() & pass != 0
        })
    }
}

/// Reads `name`'s numbers from the text of /etc/passwd.
fn from_passwd(passwd: &str, name: &str) -> Option<Account> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(Account::Other { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwd_lines_are_read_by_name() {
        let text = "root:x:0:0::/root:/bin/sh\npostgres:x:101:104:,,,:/var/lib/postgresql:/bin/bash\n";
        assert_eq!(from_passwd(text, "postgres"), Some(Account::Other { uid: 101, gid: 104 }));
        assert_eq!(from_passwd(text, "post"), None);
    }
}
