//! Where servers write that live for minutes: in memory, if the system has a place for it.

use std::path::{Path, PathBuf};

use rustix::fs::statfs;

/// Linux's shared memory, a file system that holds everything in memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// The type that such a file system has (TMPFS_MAGIC of linux/magic.h).
const TMPFS: u64 = 0x0102_1994;
/// A test binary's two servers, with a database for each test and a table of 300 MB, need less. Containers have 64 MB
/// in all unless they are given more.
const ROOM_BYTES_MIN: u64 = 3 << 30;

/// A folder in memory with room for servers, else that for temporary files.
///
/// A disk that is busy with something else (a compiler's output) holds up every program that writes to it, flushed or
/// not, for seconds: a server in there stands still as long, and no test can tell that from a hang.
pub(crate) fn folder() -> PathBuf {
    if is_roomy(Path::new(SHARED_MEMORY)) { PathBuf::from(SHARED_MEMORY) } else { std::env::temp_dir() }
}

fn is_roomy(folder: &Path) -> bool {
    let Ok(found) = statfs(folder) else { return false };
    let (kind, unit) = (u64::try_from(found.f_type), u64::try_from(found.f_bsize));
    kind.is_ok_and(|kind| kind == TMPFS)
        && unit.is_ok_and(|unit| found.f_bavail.saturating_mul(unit) >= ROOM_BYTES_MIN)
}
