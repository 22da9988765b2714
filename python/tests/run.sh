#!/bin/sh
# run.sh BUILD [oldest] [PYTEST'S ARGUMENTS]: the tests of the Python package with the library and
# the program of BUILD, in a virtual environment BUILD/python/newest/venv, which is made when it is
# not there and kept; with oldest, those that depend on numpy, scipy and scikit-learn, with the
# oldest of them. Skipped (77), with a line that says why, where Python, venv or its packages are
# not.
set -eu
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
packages=requirements place=$build/python/newest
if [ "${1-}" = oldest ]; then
    shift
    packages=oldest place=$build/python/oldest
    set -- "$here/test_sklearn.py" "$here/test_same.py" "$here/test_inputs.py" "$@"
else
    set -- "$here" "$@"
fi
venv=$place/venv

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || {
    echo "skipped: python3 is older than 3.9, or not there"
    exit 77
}
cmp -s "$here/$packages.txt" "$venv/requirements.txt" || rm -rf "$place/compiled"
"$source/scripts/venv" "$venv" "$here/$packages.txt"

# what is imported is compiled then; most of what is installed never is
export PYTHONPYCACHEPREFIX="$place/compiled"

# the package as an installation has it, but for copies
package=$place/package/billboard
rm -rf "$package"
mkdir -p "$package"
ln -s "$source"/python/src/billboard/* "$package"
rm -f "$package/__pycache__"
ln -s "$build"/libbillboard.so.0 "$package"

export PYTHONPATH="$place/package" MYPY_CACHE_DIR="$place/mypy"
export BILLBOARD_PROGRAM="$build/billboard"
cd "$place"
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider -c "$here/pytest.ini" \
    --rootdir "$here" "$@"
