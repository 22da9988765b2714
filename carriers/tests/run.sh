#!/bin/sh
# run.sh BUILD CARRIER [CASE]: carriers/tests/test_CARRIER.py with the program of BUILD, and with
# the pinned packages of carriers/CARRIER/requirements.txt in a virtual environment under BUILD.
# Skipped (77), with a line that says why, where those are not to be had.
set -eu
build=$(cd "$1" && pwd)
carrier=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
place=$build/carriers/$carrier
mkdir -p "$place"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || {
    echo "skipped: there is no python3, or it is older than 3.10"
    exit 77
}
"$source/scripts/venv" "$place/venv" "$source/carriers/$carrier/requirements.txt"
# the frameworks keep there where a user's server is: each test has one of its own
export HOME="$place/home-${3-all}"
rm -rf "$HOME"
mkdir "$HOME"
export PYTHONPYCACHEPREFIX="$place/compiled"
export PYTHONPATH="$source/carriers/$carrier/src:$source/tests/cli"
export PATH="$build:$place/venv/bin:$PATH"
exec python3 "$source/carriers/tests/test_$carrier.py" "$source" "${3-}"
