//! Compiles the BPF programs of `bpf/` and has them embedded. Without clang, or on another system than Linux, there is
//! nothing to embed, and the crate is built without its live leg (see `lib.rs`).

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CLANG");
    #[cfg(all(feature = "live", target_os = "linux"))]
    live::build();
}

#[cfg(all(feature = "live", target_os = "linux"))]
mod live {
    use libbpf_cargo::SkeletonBuilder;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    pub fn build() {
        let clang = PathBuf::from(std::env::var_os("CLANG").unwrap_or_else(|| "clang".into()));
        if !works(&clang) {
            println!(
                "cargo::warning=there is no {}: truckee is built without its live leg (Debian and Ubuntu: apt-get install clang)",
                clang.display()
            );
            return;
        }
        let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
        let mut sources: Vec<PathBuf> = std::fs::read_dir("bpf")
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().ends_with(".bpf.c"))
            .collect();
        sources.sort();
        let mut list = String::from("&[\n");
        for source in &sources {
            list.push_str(&entry(&clang, source, &out));
        }
        list.push_str("]\n");
        write(&out.join("objects.rs"), &list);
        println!("cargo::rustc-cfg=live");
    }

    fn works(clang: &Path) -> bool {
        let targets = Command::new(clang).arg("--print-targets").stderr(Stdio::null()).output();
        targets.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("bpf"))
    }

    /// Compiles one program; its line in the list of all: name and object.
    fn entry(clang: &Path, source: &Path, out: &Path) -> String {
        let name = source.file_name().map(|n| n.to_string_lossy().replace(".bpf.c", "")).unwrap_or_default();
        let object = out.join(format!("{name}.bpf.o"));
        let built = SkeletonBuilder::new()
            .source(source)
            .obj(&object)
            .clang(clang)
            .clang_args(["-Wall", "-Wno-unused-function", "-mcpu=v3"])
            .build();
        if let Err(error) = built {
            println!("cargo::error={}: {error:#}", source.display());
            std::process::exit(1);
        }
        format!("    ({name:?}, include_bytes!({:?})),\n", object.display().to_string())
    }

    fn write(path: &Path, text: &str) {
        if let Err(error) = std::fs::write(path, text) {
            println!("cargo::error={}: {error}", path.display());
            std::process::exit(1);
        }
    }
}
