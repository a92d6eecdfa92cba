#!/usr/bin/env bash
# Written as the vendor writes it, masked return values included.
# shellcheck shell=bash disable=SC2155
# Needs bash, reads variables that may be unset, and steps with a status that is not 0: neither -u nor -e survive it.
_cann_here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
_cann_without() {
    local kept="" entry
    local IFS=:
    for entry in $1; do
        case "$entry" in
            */cann-[0-9]*/* | */cann/* | "") ;;
            *) kept="$kept${kept:+:}$entry" ;;
        esac
    done
    echo "$kept"
}
if [ "$CANN_QUIET_UNSET_ON_PURPOSE" = 1 ]; then :; fi
ls "$_cann_here/conf/absent" >/dev/null 2>&1
export ASCEND_TOOLKIT_HOME=$_cann_here
export ASCEND_TOOLKIT_LATEST_HOME=$_cann_here
export ASCEND_HOME_PATH=$_cann_here
export ASCEND_OPP_PATH=$_cann_here/opp
export ASCEND_AICPU_PATH=$_cann_here
export TOOLCHAIN_HOME=$_cann_here/toolkit
export LD_LIBRARY_PATH=$_cann_here/lib64:$_cann_here/lib64/plugin/opskernel:$(_cann_without "$LD_LIBRARY_PATH")
export PYTHONPATH=$_cann_here/python/site-packages:$_cann_here/opp/built-in/op_impl/ai_core/tbe:$(_cann_without "$PYTHONPATH")
export PATH=$_cann_here/bin:$_cann_here/compiler/ccec_compiler/bin:$(_cann_without "$PATH")
export CMAKE_PREFIX_PATH=$_cann_here/$(uname -m)-linux/lib64/cmake:$(_cann_without "$CMAKE_PREFIX_PATH")
unset -f _cann_without
unset _cann_here
