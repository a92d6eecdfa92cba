#!/usr/bin/env bash
# Without --cxx_abi the default python3 is asked for its torch, which costs seconds and depends on the active environment.
_atb_here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
_atb_abi=""
for _atb_word in "$@"; do
    case "$_atb_word" in --cxx_abi=*) _atb_abi=${_atb_word#*=} ;; esac
done
if [ -z "$_atb_abi" ]; then
    _atb_abi=$(python3 -c "import torch; print(1 if torch.compiled_with_cxx11_abi() else 0)" 2>/dev/null)
    [ -n "$_atb_abi" ] || _atb_abi=0
fi
export ATB_HOME_PATH=$_atb_here/latest/atb/cxx_abi_$_atb_abi
export ATB_CXX_ABI=$_atb_abi
export LD_LIBRARY_PATH=$ATB_HOME_PATH/lib:$LD_LIBRARY_PATH
export PATH=$ATB_HOME_PATH/bin:$PATH
export ATB_STREAM_SYNC_EVERY_KERNEL_ENABLE=0
export ATB_OPSRUNNER_KERNEL_CACHE_LOCAL_COUNT=1
export ATB_OPSRUNNER_KERNEL_CACHE_GLOABL_COUNT=5
export ASDOPS_MATMUL_PP_FLAG=1
export ASDOPS_LOG_LEVEL=ERROR
export LCCL_DETERMINISTIC=0
unset _atb_here _atb_abi _atb_word
