#!/bin/sh
# wheel.sh BUILD: the wheel that scripts/wheel builds, installed in an environment of its own and
# tested there with nothing else on the path, no compiler among it, against the program of BUILD.
# Skipped (77), with a line that says why, where something is missing.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
wheel=$build/wheel
clean=$wheel/clean

python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || {
    echo "skipped: there is no python3, or it is older than 3.9"
    exit 77
}
"$here/../../scripts/wheel" "$wheel"
rm -rf "$wheel/compiled"
python3 -m venv --clear "$clean"
"$here/../../scripts/venv-install" "$clean" "$wheel"/billboard-*.whl pandas pytest
cd "$wheel"
exec env -i PATH="$clean/bin" HOME="$wheel" PYTHONPYCACHEPREFIX="$wheel/compiled" \
    BILLBOARD_PROGRAM="$build/billboard" OMP_WAIT_POLICY=passive \
    "$clean/bin/python" -m pytest -q -p no:cacheprovider -c "$here/pytest.ini" --rootdir "$here" \
    "$here/test_same.py" "$here/test_privacy.py" "$here/test_prices.py" "$here/test_installed.py"
