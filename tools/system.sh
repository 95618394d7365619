#!/bin/sh
# Installs what the tests need from the system: a Redis server, a proxy, a browser, a font for the faces in its
# pictures, tmux, and what reads docker-compose.yml.
set -eu

missing=
command -v redis-server >/dev/null || missing="$missing redis-server"
PATH=$PATH:/usr/sbin command -v haproxy >/dev/null || missing="$missing haproxy"
command -v chromium >/dev/null || missing="$missing chromium"
command -v tmux >/dev/null || missing="$missing tmux"
command -v docker-compose >/dev/null || docker compose version >/dev/null 2>&1 || missing="$missing docker-compose"
[ -n "$(find /usr/share/fonts /usr/local/share/fonts ~/.fonts -iname '*emoji*' 2>/dev/null)" ] ||
    missing="$missing fonts-noto-color-emoji"
[ -n "$missing" ] || exit 0

install="apt-get install --yes --no-install-recommends$missing"
as_root=
if [ "$(id -u)" = 0 ]; then
    as_root="env DEBIAN_FRONTEND=noninteractive"
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n env DEBIAN_FRONTEND=noninteractive"
fi
if ! command -v apt-get >/dev/null || [ -z "$as_root" ]; then
    echo "The tests need$missing: sudo $install" >&2
    exit 1
fi
echo "Installing$missing for the tests ..."
# shellcheck disable=SC2086 # several words on purpose
{
    $as_root apt-get update --quiet=2
    $as_root $install --quiet=2 >/dev/null
}
