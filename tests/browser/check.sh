#!/bin/sh
# check.sh: looks at an HTML report in a real, headless Chromium.
#
#   check.sh REPORT.html OUTDIR
#
# Fails when the page logs an error, asks for anything but itself, is wider than the screen, or has chart labels
# that cover each other, text too small or too pale. Screenshots and a print are kept in OUTDIR.
# Exits with 77 (skipped) when Chromium or Node.js is missing.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 REPORT.html OUTDIR" >&2
    exit 2
fi

skip() {
    echo "SKIPPED: no browser check of $1: $2 is missing (on Debian, as root: apt-get install $3)" >&2
    exit 77
}

browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
[ -n "$browser" ] || skip "$1" Chromium chromium
command -v node >/dev/null || skip "$1" Node.js nodejs

mkdir -p "$2"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
trap 'exit 130' INT TERM
node "$(dirname "$0")/check.mjs" "$browser" "$profile" "$1" "$2"
