#!/bin/sh
# sources.sh FOLDER - the archives that sources.lock names, unpacked below FOLDER, each in a folder of its package's name. What is
# there already is kept, and then no network is needed. They come from the mirror this machine installs packages from, by a list of
# apt's that is used here alone: nothing is installed, nothing of the machine is changed, and root is not needed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

has() { [ "$(cat "$1/.digest" 2>/dev/null)" = "$2" ]; } # PACKAGE DIGEST

apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts="$PWD/apt/sources.d" \
        -o Dir::State="$PWD/apt/state" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$PWD/apt/cache" \
        -o APT::Sandbox::User=root "$@"
}

# The machine's own list, of sources in place of packages.
list_sources() {
    command -v apt-get >/dev/null || { echo "Debian's sources are fetched by apt-get, which is not here" >&2; return 1; }
    mkdir -p apt/sources.d apt/state/lists/partial apt/cache/archives/partial
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >apt/sources.list
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -r "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"apt/sources.d/${file##*/}"
    done
    apt update
}

listed=
while read -r package archive digest; do
    case $package in '' | '#'*) continue ;; esac
    ! has "$package" "$digest" || continue
    [ -n "$listed" ] || list_sources
    listed=1
    apt source --download-only "$package" >/dev/null
    [ -f "$archive" ] || { echo "$package: Debian has no $archive any more" >&2; exit 1; }
    echo "$digest  $archive" | sha256sum --check --status || { echo "$package: $archive is not the archive of sources.lock" >&2; exit 1; }
    rm -rf "$package"
    mkdir "$package"
    tar -xf "$archive" -C "$package" --strip-components=1
    echo "$digest" >"$package/.digest"
    rm -f "$package"_*
done <"$here/sources.lock"
rm -rf apt
