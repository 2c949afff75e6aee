//! The inputs from which fuzzing starts (`/fuzz/corpus`): the vectors, in the form that each fuzz target reads.

use std::path::{Path, PathBuf};

use crate::file::{Direction, PasswordName, Vector, malformed, streams, vectors};

/// Set this environment variable to write the files instead of comparing them, after vectors were added.
const WRITE: &str = "TRUNKLINE_WRITE_FUZZ_CORPUS";

/// Seeds longer than this only slow fuzzing down.
const SEED_BYTES_MAX: usize = 1_024;

/// The fuzz target for which a vector is a seed, and the seed in that target's form.
fn seed(vector: &Vector) -> (&'static str, Vec<u8>) {
    let message = || {
        let (tag, body) = (vector.bytes[0], vector.bytes.get(5..).unwrap_or_default());
        [&[tag], body].concat()
    };
    match vector.direction {
        Direction::First => ("wire_first_packet", vector.bytes.clone()),
        Direction::Backend => ("wire_backend", message()),
        Direction::Frontend => {
            let kind = match vector.password {
                None | Some(PasswordName::Password) => 0,
                Some(PasswordName::SaslInitial) => 1,
                Some(PasswordName::Sasl) => 2,
                Some(PasswordName::Gss) => 3,
            };
            ("wire_frontend", [&[kind], &message()[..]].concat())
        }
    }
}

/// The path and the content of each seed.
fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    let mut seeds = Vec::new();
    for vector in vectors().into_iter().chain(malformed()) {
        let (target, bytes) = match vector.refused_by.as_deref() {
            // Vectors with an impossible length are seeds for the target that reads headers.
            Some("frame") if vector.direction != Direction::First => {
                ("wire_frame", [&[1], &vector.bytes[..]].concat())
            }
            _ => seed(&vector),
        };
        if bytes.len() <= SEED_BYTES_MAX {
            seeds.push((root.join(target).join(&vector.name), bytes));
        }
    }
    for stream in streams() {
        seeds.push((root.join("wire_frame").join(&stream.name), [&[3], &stream.bytes[..]].concat()));
    }
    seeds
}

#[test]
fn fuzzing_starts_from_the_vectors() {
    let write = std::env::var_os(WRITE).is_some();
    for (path, bytes) in seeds() {
        if write {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
            std::fs::write(&path, &bytes).expect("the seed can be written");
        }
        let found =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; set {WRITE}=1", path.display()));
        assert_eq!(found, bytes, "{} is out of date; set {WRITE}=1", path.display());
    }
}
