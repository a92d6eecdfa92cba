#!/usr/bin/env bash
# Always ends with the status of tee, as the vendor's does.
{
    root=@ROOT@ tree=@TREE@
    chmod -R u+w "$tree" 2>/dev/null
    rm -rf "$tree"
    for link in "$root/cann" "$root/ascend-toolkit"/* "$root/ascend-toolkit/latest"/*; do
        [ -L "$link" ] && [ ! -e "$link" ] && rm -f "$link"
    done
    left=n
    for other in "$root"/cann-* "$root"/ascend-toolkit/[0-9]*; do
        [ -d "$other" ] && left=y
    done
    [ $left = n ] && rm -rf "$root/ascend-toolkit" /etc/Ascend/ascend_cann_install.info
    echo "[INFO] Ascend-cann-toolkit uninstall success"
} 2>&1 | tee -a /var/log/ascend_seclog/ascend_toolkit_install.log
