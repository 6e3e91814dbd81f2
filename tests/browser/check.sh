#!/bin/sh
# check.sh: looks at HTML reports in a real, headless Chromium.
#
#   check.sh REPORT.html... OUTDIR
#
# Fails when a page logs an error, asks for anything but itself, is wider than the screen, has chart labels that
# cover each other, text too small or too pale, a control that Tab does not reach or whose focus is not seen, or
# violates a rule of axe-core. Screenshots and a print are kept in OUTDIR. Exits with 77 (skipped) when Chromium
# or Node.js is missing. axe-core comes from npm, of one version whose digest is known, or from the file that AXE
# names; without either the rest is checked, and that is said.
set -eu

axe_version=4.14.1
axe_sha256=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745

if [ $# -lt 2 ]; then
    echo "usage: $0 REPORT.html... OUTDIR" >&2
    exit 2
fi

skip() {
    echo "SKIPPED: no browser check: $1 is missing (on Debian, as root: apt-get install $2)" >&2
    exit 77
}

browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
[ -n "$browser" ] || skip Chromium chromium
command -v node >/dev/null || skip Node.js nodejs

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# The path of axe.min.js on standard output, or nothing and a line that says so.
find_axe() {
    if [ -n "${AXE:-}" ]; then
        echo "$AXE"
        return
    fi
    archive=$scratch/axe-core-$axe_version.tgz
    if ! command -v npm >/dev/null; then
        echo "SKIPPED: axe-core: npm is missing (on Debian, as root: apt-get install npm), and AXE names no file" >&2
    elif ! (cd "$scratch" && npm pack --silent --fetch-timeout=20000 --fetch-retries=1 \
        "axe-core@$axe_version" >npm.log 2>&1); then
        echo "SKIPPED: axe-core: npm could not fetch it: $(tail -n 1 "$scratch/npm.log")" >&2
    elif ! echo "$axe_sha256  $archive" | sha256sum -c --quiet - >&2; then
        echo "axe-core $axe_version is not the package that was reviewed" >&2
        return 1
    else
        tar -xzf "$archive" -C "$scratch" package/axe.min.js && echo "$scratch/package/axe.min.js"
    fi
}
axe=$(find_axe)

count=$#
for argument; do
    count=$((count - 1))
    shift
    if [ "$count" -eq 0 ]; then
        output=$argument
    else
        set -- "$@" "$argument"
    fi
done
mkdir -p "$output"
node "$(dirname "$0")/check.mjs" "$browser" "$scratch/profile" "$output" "$axe" "$@"
