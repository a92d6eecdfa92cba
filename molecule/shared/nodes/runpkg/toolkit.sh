# One of the pieces that install.sh joins: they share variables.
# shellcheck shell=bash disable=SC2154,SC2153
# The toolkit: a tree for each version, and links, scripts and a record that name the last one installed.
COMPONENTS="runtime compiler hccl opp toolkit aoe ncs"
LIBRARIES="libascendcl libhccl libge_runner libgraph libacl_op_compiler"

package_root() {
    case "$LAYOUT" in
        legacy) echo "$install_path/ascend-toolkit/$VERSION" ;;
        *) echo "$install_path/cann-$VERSION" ;;
    esac
}

check_needs() {
    [ "$action" = upgrade ] || return 0
    [ -e "$install_path/cann" ] || [ -e "$install_path/ascend-toolkit/latest" ] || fail "no toolkit to upgrade in $install_path."
}

component_info() {
    printf 'Version=%s\nversion_dir=%s\ntimestamp=20260101_000000000\n' "$INNER" "$VERSION"
    printf 'required_driver_ascendhal_version=4.0.0\nrequired_package_opp_kernel_version=">=%s, <=%s"' "$INNER" "$INNER"
}

put_components() {
    local tree=$1 name
    for name in $COMPONENTS; do
        mkdir -p "$tree/$name"
        [ "$LAYOUT" = legacy ] && put "$tree/$name/version.info" "$(component_info)"
        [ "$LAYOUT" = cann ] && put "$tree/share/info/$name/version.info" "$(component_info)"
    done
    put "$tree/runtime/scene.info" "os=linux
os_version=
arch=$ARCH"
    put "$tree/runtime/ascend_install.info" "Runtime_Install_Type=full
Runtime_UserName=root
Runtime_UserGroup=root
Runtime_Install_Path_Param=${tree%/*}"
}

put_libraries() {
    local tree=$1 name
    for name in $LIBRARIES; do
        put "$tree/$ARCH-linux/lib64/$name.so" "simulated"
    done
    ln -sfn "$ARCH-linux/lib64" "$tree/lib64"
    mkdir -p "$tree/python/site-packages/acl" "$tree/opp/built-in/op_impl/ai_core/tbe/op_tiling" "$tree/bin"
    put "$tree/python/site-packages/acl/__init__.py" "# simulated"
}

# The operators sit inside the toolkit's tree, so a toolkit that is written over an older one takes them along.
drop_operators() {
    rm -rf "$1/opp_kernel" "$1/opp/built-in/op_impl/ai_core/tbe/kernel" "$1/$ARCH-linux/ascend_ops_install.info" \
        "$1/$ARCH-linux/script/ops_uninstall.sh"
}

point_legacy() {
    local tree=$1 base=$install_path/ascend-toolkit name
    ln -sfn "./$VERSION" "$base/${VERSION%.*}"
    [ -L "$base/latest" ] && rm -f "$base/latest"
    rm -rf "$base/latest"
    mkdir -p "$base/latest/var/manager"
    for name in "$tree"/*; do
        ln -sfn "../$VERSION/${name##*/}" "$base/latest/${name##*/}"
    done
    {
        echo "# version: 1.0"
        for name in $COMPONENTS; do
            echo "${name}_running_version=[$INNER:$VERSION]"
            echo "${name}_upgrade_version=[$INNER:$VERSION]"
            echo "${name}_installed_version=[$INNER:$VERSION]"
        done
    } >"$base/latest/version.cfg"
    from_template env_legacy.sh "$base/set_env.sh" 555
    write_record "$base"
}

point_cann() {
    local base=$install_path/ascend-toolkit
    ln -sfn "cann-$VERSION" "$install_path/cann"
    mkdir -p "$base"
    rm -rf "$base/latest" "$base/set_env.sh"
    ln -s "../cann-$VERSION" "$base/latest"
    ln -s "../cann-$VERSION/set_env.sh" "$base/set_env.sh"
    write_record "$install_path/cann-$VERSION"
}

put_package() {
    local tree older=""
    tree=$(package_root)
    if [ "$action" = upgrade ]; then
        older=$(readlink -e "$install_path/cann" || readlink -e "$install_path/ascend-toolkit/latest/runtime/..")
    fi
    drop_operators "$tree"
    put_components "$tree"
    middle "$tree"
    put_libraries "$tree"
    from_template uninstall.sh "$tree/$ARCH-linux/script/uninstall.sh" 555
    from_template cann_uninstall.sh "$tree/cann_uninstall.sh" 555
    put "$tree/$ARCH-linux/install.conf" "Install_Mode=$action
Quiet_Mode=$quiet
Install_For_All=$for_all
Install_UserName=root
Install_UserGroup=root
Install_Path=$install_path
Whitelist=
Blacklist=" 644
    if [ "$LAYOUT" = legacy ]; then
        from_template env_tree.sh "$tree/bin/setenv.bash" 555
        put "$tree/$ARCH-linux/ascend_toolkit_install.info" "$(install_info "$NAME" "$VERSION" "$tree/$ARCH-linux")"
        point_legacy "$tree"
    else
        from_template env_cann.sh "$tree/set_env.sh" 555
        case "$VERSION" in 9.[1-9]*) from_template query_pkg_version.sh "$tree/query_pkg_version.sh" 555 ;; esac
        put "$tree/$ARCH-linux/ascend_toolkit_install.info" "$(install_info "$NAME" "$VERSION" "$tree/$ARCH-linux")"
        point_cann
    fi
    # An upgrade is not side by side: the version that was the default goes.
    if [ -n "$older" ] && [ "$older" != "$tree" ] && [ "$older" != / ]; then rm -rf "$older"; fi
}

remove_package() {
    local tree
    tree=$(package_root)
    [ -d "$tree" ] || fail "$NAME $VERSION is not installed in $install_path."
    bash "$tree/$ARCH-linux/script/uninstall.sh" >/dev/null
}
