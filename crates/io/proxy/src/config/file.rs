//! Reads the configuration and the files that it names. Each read has a bound, also on a pipe or a device.

use std::io::{self, Read};
use std::path::Path;

/// Reads a whole text file. A file that is longer than `bytes_max` is an error, even when it has no known length (a pipe,
/// a device).
pub(super) fn read_text(file: &Path, bytes_max: usize) -> io::Result<String> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let mut bytes = Vec::new();
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    std::fs::File::open(file)?.take(bound.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(invalid(format!("it is longer than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_be_as_long_as_the_bound_and_no_longer() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("f");
        std::fs::write(&file, "12345").expect("written");
        assert_eq!(read_text(&file, 5).expect("within the bound"), "12345");
        assert_eq!(read_text(&file, 4).expect_err("above").to_string(), "it is longer than 4 bytes");
        std::fs::write(&file, b"\xff").expect("written");
        assert_eq!(read_text(&file, 4).expect_err("not text").to_string(), "it is not UTF-8");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_without_an_end_is_refused() {
        assert!(read_text(Path::new("/dev/zero"), 4096).is_err());
    }
}
