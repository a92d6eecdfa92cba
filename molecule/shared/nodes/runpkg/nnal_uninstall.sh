#!/usr/bin/env bash
rm -rf "@ROOT@/nnal/atb/@VERSION@" "@ROOT@/nnal/asdsip/@VERSION@"
for link in "@ROOT@"/nnal/*/latest; do
    [ -e "$link" ] || rm -f "$link"
done
echo "[INFO] Ascend-cann-nnal uninstall success" | tee -a /var/log/ascend_seclog/operation.log
