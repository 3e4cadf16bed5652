//! Programs in C that are compiled and run here, to hold what the kernel is given in C against its Rust side.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The kernel's names of numbers, as the headers of the BPF programs have them.
const NUMBERS: &str = "
#include <stddef.h>
#include <stdio.h>
typedef unsigned char __u8;
typedef unsigned short __u16, __be16;
typedef unsigned int __u32, __be32;
typedef int __s32;
typedef unsigned long long __u64;
#define TRUCKEE_NATIVE
";

/// Compiles a program with the clang that compiles the BPF programs, whose headers are in `include`, and runs it with this
/// on its standard input; what it has written. The kernel's names of numbers are known to it, and `TRUCKEE_NATIVE` says that
/// there is no kernel.
///
/// # Panics
/// If it does not compile, or fails.
pub fn native(include: &Path, source: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let program = std::env::temp_dir().join(format!("truckee-native-{}-{number}", std::process::id()));
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut compiler = Command::new(clang);
    compiler.args(arguments).arg("-I").arg(include).args(["-x", "c", "-", "-o"]).arg(&program);
    let (built, said) = run(&mut compiler, format!("{NUMBERS}{source}").as_bytes());
    assert!(built, "it does not compile: {}", String::from_utf8_lossy(&said));
    let (well, wrote) = run(&mut Command::new(&program), input);
    let _ = std::fs::remove_file(&program);
    assert!(well, "it fails after {} bytes", wrote.len());
    wrote
}

/// Whether it ended well, and what it wrote.
fn run(command: &mut Command, input: &[u8]) -> (bool, Vec<u8>) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // One that reads nothing may have ended before.
        scope.spawn(move || drop(stdin.write_all(input)));
        let output = child.wait_with_output().unwrap();
        (output.status.success(), output.stdout)
    })
}
