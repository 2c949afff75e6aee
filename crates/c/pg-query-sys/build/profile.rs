//! A profile of the grammar and the scanner, for GCC: a binary with counters writes it, and the next build reads it.
//! `scripts/release` does both.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// `write:FOLDER`: what is built writes a profile there when it ends. `read:FILE`: it is optimised by that profile.
const VARIABLE: &str = "TRUNKLINE_PG_QUERY_PROFILE";

enum Profile {
    Write(PathBuf),
    Read(PathBuf),
}

/// What the environment asks for. Other compilers than GCC have other profiles: they do without.
fn wanted(build: &cc::Build) -> Result<Option<Profile>, Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let Ok(value) = std::env::var(VARIABLE) else { return Ok(None) };
    if !build.get_compiler().is_like_gnu() {
        println!(
            "cargo::warning=the parser's C is compiled without a profile: only GCC is known to read one"
        );
        return Ok(None);
    }
    match value.split_once(':') {
        Some(("write", folder)) => Ok(Some(Profile::Write(folder.into()))),
        Some(("read", file)) => Ok(Some(Profile::Read(file.into()))),
        _ => Err(format!("{VARIABLE}={value}: neither write:FOLDER nor read:FILE").into()),
    }
}

/// The objects of the unit that `build` compiles, by the profile that the environment names.
pub(crate) fn compile(mut build: cc::Build, out: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    match wanted(&build)? {
        None => {}
        Some(Profile::Write(folder)) => {
            build
                .flag(format!("-fprofile-generate={}", folder.display()))
                .flag("-fprofile-update=prefer-atomic");
            println!("cargo::rustc-link-lib=gcov");
        }
        Some(Profile::Read(file)) => {
            println!("cargo::rerun-if-changed={}", file.display());
            let folder = out.join("profile");
            fs::create_dir_all(&folder)?;
            // GCC seeks the profile by the object's place, which the first build tells.
            for object in build.try_compile_intermediates()? {
                let place = folder.join(object.strip_prefix("/").unwrap_or(&object)).with_extension("gcda");
                fs::create_dir_all(place.parent().unwrap_or(&folder))?;
                fs::copy(&file, place)?;
            }
            build.flag(format!("-fprofile-use={}", folder.display())).flag("-fprofile-correction");
        }
    }
    Ok(build.try_compile_intermediates()?)
}
