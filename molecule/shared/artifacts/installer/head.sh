#!/bin/sh
# shellcheck disable=SC2317  # the last line is the mark of the payload and never run
# A conda installer of the shape of Miniforge's: same options, same words, same exit statuses. For tests only.
# It holds a real conda; what is simplified is the payload (one archive instead of packages and a bootstrap program).
PREFIX=$HOME/miniforge3
BATCH=0 FORCE=0
SIZE=@SIZE@
THIS=$0

usage() {
    cat <<EOF
usage: $THIS [options]

Installs Miniforge3 (test build)

-b           run install in batch mode (without manual intervention),
             it is expected the license terms (if any) are agreed upon
-f           no error if install prefix already exists
-h           print this help message and exit
-p PREFIX    install prefix, defaults to $PREFIX, must not contain spaces.
-s           skip running pre/post-link/install scripts
-u           update an existing installation
-t           run package tests after installation (may install conda-build)
EOF
}

while getopts "bifhkp:mcsut" option; do
    case "$option" in
        h) usage; exit 2 ;;
        b) BATCH=1 ;;
        i) BATCH=0 ;;
        f) FORCE=1 ;;
        p) PREFIX=$OPTARG ;;
        u) FORCE=1 ;;
        k | m | c | s | t) ;;
        *) echo "ERROR: did not recognize option '$option', please try -h" >&2; exit 1 ;;
    esac
done

if [ "$BATCH" = 0 ]; then
    printf '\nWelcome to Miniforge3 (test build)\n\nDo you accept the license terms? [yes|no]\n>>> '
    read -r answer
    case "$answer" in
        [Yy][Ee][Ss] | [Yy]) ;;
        *) echo "The license agreement wasn't approved, aborting installation."; exit 2 ;;
    esac
fi
case "$PREFIX" in
    *\ *) echo "ERROR: Cannot install into directories with spaces" >&2; exit 1 ;;
esac
if [ "$FORCE" = 0 ] && [ -e "$PREFIX" ]; then
    echo "ERROR: File or directory already exists: '$PREFIX'" >&2
    echo "If you want to update an existing installation, use the -u option." >&2
    exit 1
fi
if [ "$(wc -c <"$THIS")" -ne "$SIZE" ]; then
    echo "ERROR: size of $THIS should be $SIZE bytes" >&2
    exit 1
fi
if ! mkdir -p "$PREFIX"; then
    echo "ERROR: Could not create directory: '$PREFIX'" >&2
    exit 1
fi
PREFIX=$(cd "$PREFIX" && pwd)
echo "PREFIX=$PREFIX"
echo "Unpacking payload ..."
line=$(grep -an '^@@END_HEADER@@$' "$THIS" | head -n 1 | cut -d: -f1)
if ! tail -n +"$((line + 1))" "$THIS" | tar -xzf - -C "$PREFIX" --no-same-owner; then
    echo "ERROR: could not unpack the payload to '$PREFIX'" >&2
    exit 1
fi
while read -r name; do
    sed -i "s|@PLACEHOLDER@|$PREFIX|g" "$PREFIX/$name"
done <"$PREFIX/.placeholders"
rm -f "$PREFIX/.placeholders"
echo "installation finished."
exit 0
@@END_HEADER@@
