#!/usr/bin/env bash
# What building and checking needs beside this repository: Rust, a linker, what libbpf is built of, Python. Installs what
# is missing where it can (Debian and Ubuntu, as root) and says what to do where it cannot. Quick when all is there.
#
#   tools/prepare.sh rust          a Rust toolchain, a linker, and on Linux what the live leg is built with
#   tools/prepare.sh live          what the live leg's tests use beside
#   tools/prepare.sh browser       browsers, with which the tests of pages look at them, what drives them, and what builds for one
#   tools/prepare.sh python FILE…  .venv with the requirements in these files
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "==> $*" >&2; }

apt_install() {
    if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
        say "installing $* (apt-get)"
        apt-get update -qq </dev/null >&2
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >&2
    else
        say "please install: $*"
        exit 1
    fi
}

rust() {
    command -v cc >/dev/null || apt_install gcc libc6-dev
    if ! command -v cargo >/dev/null; then
        say "there is no cargo: install Rust 1.93 or newer as described at https://rustup.rs"
        exit 1
    fi
    [[ $(uname -s) == Linux ]] || return 0 # elsewhere there is no live leg
    # Crates come while packages do; what goes wrong here, the build says.
    cargo fetch --locked --quiet --target "$(rustc -vV | sed -n 's/^host: //p')" </dev/null 2>/dev/null &
    local fetch=$! missing=() clang=()
    command -v make >/dev/null || missing+=(make)
    command -v pkg-config >/dev/null || missing+=(pkg-config)
    has_header libelf.h || missing+=(libelf-dev)
    has_header zlib.h || missing+=(zlib1g-dev)
    command -v "${CLANG:-clang}" >/dev/null || clang+=(clang)
    if ((${#missing[@]} + ${#clang[@]} > 0)) && ! (apt_install "${missing[@]}" "${clang[@]}"); then
        # Without these, only cargo build --no-default-features works.
        ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
        # Not worth an error: without it, truckee is built without its live leg.
        say "without clang, truckee is built without its live leg"
    fi
    wait "$fetch" || true
}

has_header() { echo "#include <$1>" | cc -E -o /dev/null - 2>/dev/null; }

live() {
    [[ $(uname -s) == Linux ]] || return 0
    local missing=()
    command -v ip >/dev/null || missing+=(iproute2)
    command -v nginx >/dev/null || missing+=(nginx-light)
    command -v curl >/dev/null || missing+=(curl)
    # Foreign TCP stacks (validation/stacks).
    command -v linux.uml >/dev/null || missing+=(user-mode-linux)
    command -v insmod >/dev/null || missing+=(kmod)
    command -v slirp4netns >/dev/null || missing+=(slirp4netns)
    [[ -e /usr/include/lwip/lwip/init.h ]] || missing+=(liblwip-dev)
    command -v tshark >/dev/null || missing+=(tshark)
    command -v tcptrace >/dev/null || missing+=(tcptrace)
    # The arithmetic of the BPF programs is tested under clang's sanitizer of undefined behaviour.
    sanitizes || missing+=(libclang-rt-dev)
    # Without these, the tests that want them say so.
    ((${#missing[@]} == 0)) || (apt_install "${missing[@]}") || true
}

sanitizes() {
    echo "int main(void) { return 0; }" |
        "${CLANG:-clang}" -fsanitize=undefined -x c -o /dev/null - 2>/dev/null
}

browser() {
    # Where there is no rustup, the system's packages of Rust have the target or not.
    ! command -v rustup >/dev/null || rustup --quiet target add wasm32-unknown-unknown
    local missing=()
    has_one chromium chromium-browser google-chrome || missing+=(chromium)
    has_one firefox-esr firefox || missing+=(firefox-esr)
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
    ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
    # What drives the browsers of the laboratory's tests.
    cmp -s tests/lab/package-lock.json tests/lab/node_modules/installed || {
        say "installing tests/lab/package-lock.json into tests/lab/node_modules"
        npm ci --prefix tests/lab --no-audit --no-fund --silent </dev/null
        cp tests/lab/package-lock.json tests/lab/node_modules/installed
    }
}

has_one() {
    local name
    for name in "$@"; do
        ! command -v "$name" >/dev/null || return 0
    done
    return 1
}

python() {
    command -v python3 >/dev/null || apt_install python3 python3-venv
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        say "Python 3.11 or newer is needed, this is $(python3 --version)"
        exit 1
    fi
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    local stamp=.venv/installed
    if [[ -f $stamp ]] && cat "$@" | cmp -s - "$stamp"; then
        return
    fi
    say "installing $* into .venv"
    python3 -m venv .venv
    local files=()
    for file in "$@"; do files+=(-r "$file"); done
    .venv/bin/pip install --quiet --disable-pip-version-check "${files[@]}" </dev/null
    cat "$@" >"$stamp"
}

what=${1:-}
shift || true
case $what in
    rust | live | browser | python) "$what" "$@" ;;
    *) sed -n '2,8s/^# \?//p' "$0" >&2; exit 2 ;;
esac
