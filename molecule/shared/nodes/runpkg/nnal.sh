# One of the pieces that install.sh joins: they share variables.
# shellcheck shell=bash disable=SC2154,SC2015
# NNAL: the acceleration libraries ATB and SiP beside the trees, the last one installed is the default.
package_root() { echo "$install_path/nnal/atb/$VERSION"; }

check_needs() {
    [ -n "$ASCEND_HOME_PATH" ] && [ -d "$ASCEND_HOME_PATH" ] ||
        fail "the environment of Ascend-cann-toolkit is not set, source set_env.sh first."
}

version_text() {
    printf '    Ascend-cann-%s : %s\n    Ascend-cann-%s Version : %s.B150\n' "$1" "$VERSION" "$1" "$VERSION"
    printf '    Platform : %s\n    branch : simulated\n    commit id : 0000000000000000000000000000000000000000' "$ARCH"
}

put_package() {
    local tree abi
    tree=$(package_root)
    for abi in 0 1; do
        put "$tree/atb/cxx_abi_$abi/lib/libatb.so" simulated
        mkdir -p "$tree/atb/cxx_abi_$abi/bin"
    done
    middle "$tree"
    put "$install_path/nnal/asdsip/$VERSION/version.info" "$(version_text sip)"
    put "$tree/version.info" "$(version_text atb)"
    ln -sfn "$VERSION" "$install_path/nnal/asdsip/latest"
    ln -sfn "$VERSION" "$install_path/nnal/atb/latest"
    from_template env_atb.sh "$install_path/nnal/atb/set_env.sh" 555
    [ "$LAYOUT" = cann ] && from_template nnal_uninstall.sh "$install_path/nnal/nnal_uninstall.sh" 555
    set_modes "$install_path/nnal/asdsip/$VERSION"
}

remove_package() {
    local tree
    tree=$(package_root)
    [ -d "$tree" ] || fail "$NAME $VERSION is not installed in $install_path."
    rm -rf "$tree" "$install_path/nnal/asdsip/$VERSION"
    [ -e "$install_path/nnal/atb/latest" ] || rm -f "$install_path/nnal/atb/latest" "$install_path/nnal/atb/set_env.sh"
    [ -e "$install_path/nnal/asdsip/latest" ] || rm -f "$install_path/nnal/asdsip/latest"
}
