//! A template of a server's data folder. It is made once for each version of PostgreSQL and copied for each server, because
//! initdb and the first start take seconds of CPU, and a copy some milliseconds.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::Binaries;
use crate::account::Account;

/// Copies the data folder for these binaries to `to`, which must not exist. If `cache` has no such folder, `make` makes it
/// there.
///
/// `made_by` describes everything besides the binaries on which the folder's contents depend. A folder with another
/// description is not used. `make` gets the path at which it must leave the folder, with no server running in it.
///
/// # Errors
/// When the folder cannot be stored in `cache`, or `make` or the copy fails.
pub(crate) fn copy(
    binaries: &Binaries,
    account: Account,
    made_by: &str,
    cache: &Path,
    to: &Path,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let kin = format!("data-{}-{}-", binaries.version.0, account.uid());
    let kept = cache.join(format!("{kin}{}", digest(binaries, made_by)?));
    let lock = File::create(cache.join("data-lock"));
    let lock = lock.with_context(|| format!("cannot write to {}: is it another user's?", cache.display()))?;
    lock.lock_shared().context("cannot lock the cache of data folders")?;
    if !kept.exists() {
        lock.unlock()?;
        lock.lock().context("cannot lock the cache of data folders")?;
        // Another process may have made the folder in the meantime.
        if !kept.exists() {
            remove_older(cache, &kin);
            let scratch = tempfile::Builder::new().prefix("making-").tempdir_in(cache)?;
            account.give(scratch.path())?;
            let unfinished = scratch.path().join("data");
            make(&unfinished)?;
            fs::rename(unfinished, &kept)?;
        }
    }
    copy_folder(&kept, to)
}

/// Copies a folder with its contents, owners and modes.
///
/// # Errors
/// When the system refuses, for example because the disk is full.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).stdin(Stdio::null()).output();
    let done = done.context("cannot run cp")?;
    ensure!(done.status.success(), "cannot copy a data folder: {}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

/// The name of the folder in the cache: from the binaries' release and from `made_by`.
fn digest(binaries: &Binaries, made_by: &str) -> Result<String> {
    let said = Command::new(binaries.program("postgres")).arg("--version").output();
    let mut hasher = DefaultHasher::new();
    said.context("cannot run postgres")?.stdout.hash(&mut hasher);
    binaries.folder.hash(&mut hasher);
    made_by.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Folders that an older release or older code has left.
fn remove_older(cache: &Path, kin: &str) {
    let entries =
        fs::read_dir(cache).map(|entries| entries.flatten().collect()).unwrap_or_else(|_| Vec::new());
    let of_kin =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kin));
    for path in entries.into_iter().map(|entry| entry.path()).filter(of_kin) {
        // A folder that cannot be removed only costs some megabytes.
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;

    #[test]
    fn a_folder_is_made_once_and_again_for_other_contents() {
        let (binaries, account) =
            (Binaries::find(Version::PG15).expect("binaries"), Account::choose().expect("an account"));
        let (cache, folder) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let mut made = 0;
        for (number, contents) in ["first", "first", "second"].into_iter().enumerate() {
            let to = folder.path().join(number.to_string());
            copy(&binaries, account, contents, cache.path(), &to, |at| {
                made += 1;
                fs::create_dir(at)?;
                Ok(fs::write(at.join("contents"), contents)?)
            })
            .expect("copied");
            assert_eq!(fs::read_to_string(to.join("contents")).expect("copied"), contents);
        }
        assert_eq!(made, 2);
        let kept = fs::read_dir(cache.path()).expect("there").flatten().filter(|entry| entry.path().is_dir());
        assert_eq!(kept.count(), 1, "the older one is gone");
    }
}
