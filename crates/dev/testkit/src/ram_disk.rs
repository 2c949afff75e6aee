//! The folder for servers that live for minutes: in memory, if the system has room there.

use std::path::{Path, PathBuf};

use rustix::fs::statfs;

/// Linux's shared memory: a file system that keeps everything in memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// The type of such a file system (TMPFS_MAGIC of linux/magic.h).
const TMPFS: u64 = 0x0102_1994;
/// The free bytes that a folder must have. The two servers of a test binary need less, with a database for each test and a
/// table of 300 MB. Containers have 64 MB by default, which is not enough.
const ROOM_BYTES_MIN: u64 = 3 << 30;

/// A folder in memory with enough room for servers, or else the folder for temporary files.
///
/// If a disk is busy (with a compiler's output, for example), every program that writes to it is blocked for seconds, even
/// without a flush. A server on it would stand still for that time, and a test could not tell this from a hang.
pub(crate) fn folder() -> PathBuf {
    if is_roomy(Path::new(SHARED_MEMORY)) { PathBuf::from(SHARED_MEMORY) } else { std::env::temp_dir() }
}

fn is_roomy(folder: &Path) -> bool {
    let Ok(found) = statfs(folder) else { return false };
    let (kind, unit) = (u64::try_from(found.f_type), u64::try_from(found.f_bsize));
    kind.is_ok_and(|kind| kind == TMPFS)
        && unit.is_ok_and(|unit| found.f_bavail.saturating_mul(unit) >= ROOM_BYTES_MIN)
}
