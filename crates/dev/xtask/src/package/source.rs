//! The part of libpg_query's source that our package contains: the files that `pg-query-sys` compiles and includes on any machine.

use std::error::Error;
use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// The copied folders and files, relative to `libpg_query`. The rest is libpg_query's own interface with Protocol Buffers.
const TAKEN: &[&str] = &[
    "pg_query.h",
    "pg_query_scan_tokens.h",
    "postgres_deparse.h",
    "src/include/pg_query_json_helper.c",
    "src/include/pg_query_pg_type.c",
    "src/include/pg_query_proctup_attrs.h",
    "src/pg_query_internal.h",
    "src/pg_query_json_plpgsql.c",
    "src/pg_query_json_plpgsql.h",
    "src/pg_query_parse_plpgsql.c",
    "src/postgres",
];

/// The beginnings of paths that are left out: memory contexts, which our arena replaces, and headers for Windows, where the crate cannot
/// be built.
const LEFT_OUT: &[&str] = &["src/postgres/src_backend_utils_mmgr_", "src/postgres/include/port/win32"];

/// Copies the files from libpg_query's folder `from` to the new folder `to`.
///
/// # Errors
/// When a file is missing or cannot be copied.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    for taken in TAKEN {
        for entry in WalkDir::new(from.join(taken)) {
            let entry = entry.map_err(|error| format!("libpg_query has changed: {error}"))?;
            let path = entry.path().strip_prefix(from)?;
            if entry.file_type().is_dir() || is_left_out(path) {
                continue;
            }
            let target = to.join(path);
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn is_left_out(path: &Path) -> bool {
    path.to_str().is_some_and(|path| LEFT_OUT.iter().any(|beginning| path.starts_with(beginning)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_files_are_copied_and_others_are_left_out() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let left_out = [
            "src/postgres/src_backend_utils_mmgr_aset.c",
            "src/postgres/include/port/win32/pwd.h",
            "protobuf/a.c",
        ];
        let files =
            TAKEN.iter().filter(|taken| taken.contains('.')).chain(&["src/postgres/include/postgres.h"]);
        for file in files.chain(&left_out) {
            let path = from.join(file);
            fs::create_dir_all(path.parent().ok_or("no folder")?)?;
            fs::write(path, file)?;
        }
        copy(&from, &to)?;
        assert_eq!(
            fs::read_to_string(to.join("src/postgres/include/postgres.h"))?,
            "src/postgres/include/postgres.h"
        );
        assert!(left_out.iter().all(|file| !to.join(file).exists()));

        fs::remove_file(from.join("pg_query.h"))?;
        let error = copy(&from, &to).expect_err("a file is missing");
        assert!(error.to_string().contains("pg_query.h"), "{error}");
        Ok(())
    }
}
