//! The shared library's own name: programs that were linked with it ask for this one.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The number is TRUNKLINE_ABI_VERSION; a test compares them.
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if linux {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtrunkline.so.1");
    }
}
