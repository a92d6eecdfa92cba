#!/usr/bin/env bash
# The version's own script of the older layout.
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ASCEND_TOOLKIT_HOME=$tree
export ASCEND_HOME_PATH=$tree
export ASCEND_OPP_PATH=$tree/opp
export ASCEND_AICPU_PATH=$tree
export TOOLCHAIN_HOME=$tree/toolkit
export LD_LIBRARY_PATH=$tree/lib64:$tree/lib64/plugin/opskernel:$LD_LIBRARY_PATH
export PYTHONPATH=$tree/python/site-packages:$tree/opp/built-in/op_impl/ai_core/tbe:$PYTHONPATH
export PATH=$tree/bin:$tree/compiler/ccec_compiler/bin:$PATH
