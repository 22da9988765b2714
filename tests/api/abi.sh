#!/bin/sh
# abi.sh LIBRARY ABI LIST: what LIBRARY exports and what ABI (abi.c) prints must be what LIST
# says. Whoever adds a function adds a line; whoever has to change or remove one raises
# BILLBOARD_ABI and the library's SOVERSION. What is experimental may change without that.
set -eu
found=$(
    nm -D --defined-only "$1" | awk '$2 != "A" { print "function " $3 }' | sort
    "$2"
)
if [ "$found" != "$(cat "$3")" ]; then
    printf '%s\n' "$found" | diff "$3" - || :
    echo "the binary interface is not that of tests/api/abi.txt"
    exit 1
fi
