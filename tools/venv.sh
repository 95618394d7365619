#!/bin/sh
# Makes .venv with the first Python that is new enough. Asks for nothing but a Python; `make` calls it.
set -eu
cd "$(dirname "$0")/.."

usable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
make_venv() { rm -rf .venv && "$1" -m venv .venv >/dev/null 2>&1; }

# Debian's python3 comes without venv's other half (ensurepip), but perhaps with pip, which can fetch a replacement.
make_virtualenv() {
    rm -rf .venv
    tool=$(mktemp -d)
    "$1" -m pip install --quiet --disable-pip-version-check --target "$tool" virtualenv 2>/dev/null &&
        PYTHONPATH=$tool "$1" -m virtualenv --quiet .venv
    made=$?
    rm -rf "$tool"
    return $made
}

found=
for python in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14 python}; do
    usable "$python" || continue
    found="$found $python"
    make_venv "$python" && exit 0
done
for python in $found; do
    make_virtualenv "$python" && exit 0
done
rm -rf .venv
python=${found# }
python=${python%% *}
if [ -z "$python" ]; then
    echo "Slapjack needs Python 3.11 or newer, and found none: install python3, or name yours with make PYTHON=..." >&2
elif command -v apt-get >/dev/null; then
    echo "$python cannot make an environment of its own: sudo apt install python3-venv" >&2
else
    echo "$python cannot make an environment of its own: install its venv module" >&2
fi
exit 1
