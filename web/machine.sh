#!/bin/sh
# machine.sh - print what npm calls this kind of machine, of those the lock files have programs for.
case $(uname -sm) in
"Linux x86_64") echo x64 ;;
"Linux aarch64") echo arm64 ;;
*) echo "the lock files have no programs for $(uname -sm)" >&2 && exit 1 ;;
esac
