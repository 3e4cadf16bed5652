//! What a build script does on Linux.

use libbpf_cargo::SkeletonBuilder;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Types of the kernel that programs include.
const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

fn clang() -> OsString {
    std::env::var_os("CLANG").unwrap_or_else(|| "clang".into())
}

/// Sets `cfg(live)` where there is a clang that compiles BPF; whether there is. All crates of the live leg have it or none.
pub fn live() -> bool {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CLANG");
    let targets = Command::new(clang()).arg("--print-targets").stderr(Stdio::null()).output();
    let live = targets.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("bpf"));
    if live {
        println!("cargo::rustc-cfg=live");
    }
    live
}

/// The source of which types are made, and no program.
const LAYOUT: &str = "layout";

/// Compiles the programs `bpf/*.bpf.c` of the crate that is being built; the objects are `NAME.bpf.o` in its `OUT_DIR`. Of
/// the structures in `bpf/layout.bpf.c`, which its programs and the crate share, it makes `layout.rs` there: what clang
/// says of them (BTF) as Rust, in a module `types`. Nothing is compiled where [`live`] says that there is no live leg,
/// which is returned. A program that does not compile ends the build.
pub fn compile() -> bool {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed={INCLUDE}");
    if !live() {
        return false;
    }
    let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return false };
    let sources = std::fs::read_dir("bpf").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    for source in sources {
        if let Some(name) = source.file_name().and_then(|n| n.to_str()?.strip_suffix(".bpf.c")) {
            let types = (name == LAYOUT).then(|| out.join("layout.rs"));
            one(&source, &out.join(format!("{name}.bpf.o")), types.as_deref());
        }
    }
    true
}

/// Compiles a source; `types`: what it says of its types goes there.
fn one(source: &Path, object: &Path, types: Option<&Path>) {
    let mut builder = SkeletonBuilder::new();
    builder.source(source).obj(object).clang(clang()).clang_args([
        "-Wall",
        "-Wno-unused-function",
        "-mcpu=v3",
        "-I",
        INCLUDE,
    ]);
    let built = match types {
        Some(types) => builder.reference_obj(true).build_and_generate(types),
        None => builder.build(),
    };
    if let Err(error) = built {
        println!("cargo::error={}: {error:#}", source.display());
        std::process::exit(1);
    }
}
