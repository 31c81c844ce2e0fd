#!/bin/sh
# install_packages.sh SECTION... - install the packages of packages.txt that are missing, and no others.
# As root it installs; otherwise it prints the one line to run and exits with 2.
set -eu
cd "$(dirname "$0")/.."

if ! command -v dpkg-query >/dev/null; then
    echo "packages: this is no Debian; packages.txt names what is needed, going on with what is here" >&2
    exit 0
fi

section_packages() { # the packages of one section
    awk -v wanted="[$1]" '
        /^\[/ { inside = ($1 == wanted); found = found || inside; next }
        inside && NF && !/^#/ { print $1 }
        END { exit !found }' packages.txt || { echo "packages.txt has no section [$1]" >&2; exit 2; }
}

missing=
for section in "$@"; do
    packages=$(section_packages "$section")
    for package in $packages; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) in
        *" ok installed"*) ;;
        *) missing="$missing $package" ;;
        esac
    done
done

if [ -z "$missing" ]; then
    echo "packages for $*: nothing missing"
elif [ "$(id -u)" -ne 0 ]; then
    echo "packages for $* are missing; run this line, then make again:" >&2
    echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 2
else
    echo "packages for $*: installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list of words
    if ! { apt-get update -q && apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "packages: apt-get failed, see above" >&2
        exit 2
    fi
    rm -f "$log"
fi
