#!/usr/bin/env bash
if [ $# -ne 0 ]; then
    echo "[ERROR] cann_uninstall.sh takes no parameter"
    exit 1
fi
bash "@TREE@/@ARCH@-linux/script/uninstall.sh"
