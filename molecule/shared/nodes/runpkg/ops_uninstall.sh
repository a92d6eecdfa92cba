#!/usr/bin/env bash
tree=@TREE@
rm -rf "$tree/opp/built-in/op_impl/ai_core/tbe/kernel" "$tree/@ARCH@-linux/ascend_ops_install.info" "$tree/share/info/opp_kernel"
echo "[INFO] ops uninstall success" | tee -a /var/log/ascend_seclog/operation.log
rm -f "$0"
