#!/bin/sh
# run.sh BUILD [PYTEST'S ARGUMENTS]: the tests of the Python package with the library and the
# program of BUILD, in a virtual environment BUILD/python/venv, which is made when it is not there
# and kept. Skipped (77), with a line that says why, where Python, venv or its packages are not.
set -eu
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
venv=$build/python/venv

skip() {
    echo "skipped: $*"
    exit 77
}

command -v python3 >/dev/null || skip "there is no python3"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "python3 is older than 3.9"
python3 -c 'import venv, ensurepip' 2>/dev/null || skip "python3 has no venv (python3-venv)"

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv" "$build/python/compiled"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile \
        -r "$here/requirements.txt" ||
        skip "pip could not install python/tests/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi

# what is imported is compiled then; most of what is installed never is
export PYTHONPYCACHEPREFIX="$build/python/compiled"

# the package as an installation has it, but for copies
package=$build/python/package/billboard
rm -rf "$package"
mkdir -p "$package"
ln -s "$source"/python/src/billboard/* "$package"
rm -f "$package/__pycache__"
ln -s "$build"/libbillboard.so.0 "$package"

export PYTHONPATH="$build/python/package" MYPY_CACHE_DIR="$build/python/mypy"
export BILLBOARD_PROGRAM="$build/billboard"
cd "$build/python"
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -c "$here/pytest.ini" \
    --rootdir "$here" "$@" "$here"
