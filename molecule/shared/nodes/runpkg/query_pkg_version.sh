#!/usr/bin/env bash
for info in "@TREE@"/share/info/*/version.info; do
    name=${info%/version.info}
    printf '%-16s %s\n' "${name##*/}" "$(sed -n 's/^Version=//p' "$info")"
done
