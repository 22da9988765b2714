#!/bin/sh
# install.sh BUILD SOURCE CC CXX: installs the build and uses it as others do, from a
# folder that knows nothing of this one: with pkg-config from C and C++, and with CMake.
set -eu
build=$1 source=$2 cc=$3 cxx=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/log"
# what is found must be what was installed
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name billboard.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libbillboard.so)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
cp "$source"/examples/embed/* "$work"
cd "$work"
[ "$(pkg-config --modversion billboard)" = "$("$prefix/bin/billboard" --version | sed 's/.* //')" ]

flags=$(pkg-config --cflags --libs billboard)
# shellcheck disable=SC2086
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror embed.c $flags -o embed
./embed >c.out
# shellcheck disable=SC2086
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror silos.c $flags -o silos
./silos >silos.out
[ "$(grep -c '^hospital [12] has models of 50 clinics' silos.out)" = 2 ]
grep -q '^The plan names 2 silos' silos.out
grep -q 'ε = 2, δ = 1e-05' silos.out
grep -q 'epsilon = 1 at delta = 1e-05, replace-one, sampling all' c.out
if [ -x "$cxx" ]; then
    # shellcheck disable=SC2086
    "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -DBILLBOARD_EXPERIMENTAL version.cpp $flags -o version
    ./version | grep -q '^Billboard [0-9]'
fi

cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >>"$work/log"
cmake --build cmake >>"$work/log"
cmake/embed | grep -q '^clinic 7 expects'
cmake/silos | grep -q '^The plan names 2 silos'
cat c.out
