#!/usr/bin/env bash
# Builds and tests all of Lockstep with the libtorch inside PyTorch's Python package, beside Debian's: run by hand,
# because it downloads that package.
#
#   tests/newest_libtorch.sh [--venv DIR] [--jobs N] [--long]
#
#   --venv DIR  a virtual environment with PyTorch, used as it is. One that is not there is made, with the newest
#               PyTorch that pip finds: several gigabytes where that is the one for CUDA. pip's own variables
#               (PIP_INDEX_URL) can name another index, such as PyTorch's own for the CPU.
#               [~/.cache/lockstep/newest-libtorch]
#   --jobs N    that many compilers and tests at a time [as many as there are cores]
#   --long      the long tests, too
#
# Lockstep is built in build/newest-libtorch. Neither a GPU nor a CUDA toolkit is wanted, whatever PyTorch is made for.
set -euo pipefail

root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/newest-libtorch
build=$root/build/newest-libtorch
jobs=$(nproc)
selection=(-LE long)

say() { printf 'newest_libtorch: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
usage() { sed -n '2,/^set /{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

while [[ $# -gt 0 ]]; do
  case $1 in
    --venv) venv=${2:?--venv needs a folder}; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    --long) selection=() ;;
    --help | -h) usage; exit ;;
    *) say "unknown option $1; --help lists them"; exit 2 ;;
  esac
  shift
done

# From outside the source tree, so that no folder of ours is taken for a package.
ask_torch() { (cd / && "$venv/bin/python" -c "import torch; print($1)"); }

if [[ ! -e $venv ]]; then
  say "making $venv, and installing PyTorch there"
  python3 -m venv "$venv" || die "could not make $venv: is python3-venv installed?"
  "$venv/bin/pip" install --quiet torch numpy || die "pip could not install PyTorch: remove $venv and try again"
fi
[[ -x $venv/bin/python ]] || die "$venv is not a virtual environment: name another folder with --venv"
venv=$(cd -- "$venv" && pwd)
version=$(ask_torch torch.__version__) || die "$venv has no PyTorch that works: $venv/bin/pip install torch numpy"
torch_dir=$(ask_torch torch.utils.cmake_prefix_path)/Torch

mkdir -p "$build"
log=$build.log tests_log=$build-tests.log
say "building with libtorch $version (log: $log)"
{
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLOCKSTEP_TESTS=ON \
    -DTorch_DIR="$torch_dir" &&
    cmake --build "$build" --parallel "$jobs"
} >"$log" 2>&1 || { grep -m 1 -A 20 'FAILED\|CMake Error' "$log" >&2 || tail -n 20 "$log" >&2; die "could not build"; }

say "testing (log: $tests_log)"
code=0
ctest --test-dir "$build" --no-tests=error -V -j "$jobs" "${selection[@]}" >"$tests_log" 2>&1 || code=$?
grep -E '^ *[0-9]+/[0-9]+ Test|\[  FAILED  \]|^[0-9]+: (FAIL|ERROR):' "$tests_log" || true
echo "libtorch $version, $(c++ --version | head -n 1), $(cmake --version | head -n 1)"
awk -f "$root/tests/count_tests.awk" "$tests_log"
exit "$code"
