# One of the pieces that install.sh joins: they share variables.
# shellcheck shell=bash disable=SC2154,SC2015,SC2153
# The operators (kernels) of one chip: they go into the tree of a toolkit.
package_root() {
    local tree
    if [ "$LAYOUT" = legacy ]; then
        echo "$install_path/ascend-toolkit/$VERSION"
        return
    fi
    tree=$install_path/cann-$VERSION
    # With a toolkit of a neighbouring version the operators take its folder, whose name then tells nothing about them.
    [ -d "$tree" ] || tree=$(readlink -e "$install_path/cann")
    echo "$tree"
}

check_needs() {
    local tree
    tree=$(package_root)
    [ -n "$tree" ] && [ -e "$tree/$ARCH-linux/ascend_toolkit_install.info" ] ||
        fail "Ascend-cann-toolkit is not installed in $install_path, install it first."
    if [ "$LAYOUT" = legacy ] && [ -z "$ASCEND_TOOLKIT_HOME" ]; then
        fail "the environment of Ascend-cann-toolkit is not set, source set_env.sh first."
    fi
}

put_package() {
    local tree kernels
    tree=$(package_root)
    kernels=$tree/opp/built-in/op_impl/ai_core/tbe/kernel
    put "$kernels/$KERNELS/add.json" '{"simulated": true}'
    middle "$tree"
    put "$kernels/config/$KERNELS/binary_info_config.json" '{}'
    if [ "$LAYOUT" = legacy ]; then
        put "$tree/opp_kernel/ascend_install.info" "Opp_kernel_Install_Type=full
Opp_kernel_Chip_Type=$CHIP"
        put "$tree/opp_kernel/version.info" "Version=$INNER
version_dir=$VERSION"
        if [ -d "$install_path/ascend-toolkit/latest" ]; then
            ln -sfn "../$VERSION/opp_kernel" "$install_path/ascend-toolkit/latest/opp_kernel"
            echo "opp_kernel_running_version=[$INNER:$VERSION]" >>"$install_path/ascend-toolkit/latest/version.cfg"
        fi
        write_record "$install_path/ascend-toolkit"
    else
        put "$tree/$ARCH-linux/ascend_ops_install.info" "$(install_info "$NAME" "$VERSION" "$tree/$ARCH-linux")"
        put "$tree/share/info/opp_kernel/version.info" "Version=$VERSION
version_dir=$VERSION"
        from_template ops_uninstall.sh "$tree/$ARCH-linux/script/ops_uninstall.sh" 555
        ln -sfn "${tree##*/}" "$install_path/cann"
        write_record "$tree"
    fi
}

remove_package() {
    local tree
    tree=$(package_root)
    [ -d "$tree" ] || fail "$NAME $VERSION is not installed in $install_path."
    rm -rf "$tree/opp_kernel" "$tree/opp/built-in/op_impl/ai_core/tbe/kernel" "$tree/$ARCH-linux/ascend_ops_install.info" \
        "$tree/$ARCH-linux/script/ops_uninstall.sh" "$tree/share/info/opp_kernel"
}
