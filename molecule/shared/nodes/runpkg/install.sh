#!/usr/bin/env bash
# One of the pieces that install.sh joins: they share variables.
# shellcheck shell=bash disable=SC1090,SC1091,SC2034
# Installer inside a fake CANN package. Behaves as the vendor's do where tests must know: exit statuses that lie, links and
# record rewritten, operators lost on a toolkit upgrade, a question without --quiet.
shift 2 # name of the .run file, folder it was called from
here=$(cd "$(dirname "$0")" && pwd)
. "$here/package.conf"
. "$here/common.sh"
. "$here/$PACKAGE.sh"

action="" quiet=n for_all=n install_path=/usr/local/Ascend path_given=n
note_call "$@"
for word in "$@"; do
    case "$word" in
        --install | --full | --devel | --upgrade | --uninstall | --check)
            [ -z "$action" ] || fail "ERR_NO:0x0004;ERR_DES:Only one of install, full, devel, upgrade, uninstall is allowed."
            action=${word#--}
            ;;
        --quiet) quiet=y ;;
        --install-for-all) for_all=y ;;
        --install-path=*) install_path=${word#*=} path_given=y ;;
        --force | --nox11 | --whitelist=*) ;;
        *) fail "ERR_NO:0x0004;ERR_DES:unrecognized parameters: $word" ;;
    esac
done
[ -n "$action" ] || fail "ERR_NO:0x0004;ERR_DES:one of --install, --full, --devel, --upgrade, --uninstall is needed."
install_path=${install_path%/}

[ "$action" = check ] && exit 0
[ "$(id -u)" = 0 ] || fail "this simulated package knows root only."
prepare_log
one_at_a_time
fault=$(read_fault)
say INFO "start time: $(date '+%F %T') $NAME $VERSION $action"

if [ "$action" = uninstall ]; then
    remove_package
    say INFO "$NAME uninstall success"
    exit 0
fi
[ "$(uname -m)" = "$ARCH" ] || fail "Arch mismatch: the package is for $ARCH, this machine is $(uname -m)."
check_parents "$install_path"
check_record
command -v python3 >/dev/null || fail "There is no python3.7,python3.8,python3.9,python3.10,python3.11 in the current environment !"
[ -e /etc/ascend_install.info ] || say WARNING "driver package maybe not installed."
case "$fault" in
    refuse-0)
        say WARNING "the package cannot be installed in this environment, quit."
        exit 0
        ;;
    fail) fail "Check version does not matched! the package cannot be installed." ;;
    log-only)
        say INFO "$(success_line)"
        exit 0
        ;;
esac
if [ "$quiet" = n ] || [ "$fault" = question ]; then
    printf 'Do you accept the EULA to install %s? [Y/N]: ' "$NAME"
    read -r answer
    case "$answer" in
        y | Y) ;;
        *)
            say INFO "the license was not accepted, quit."
            exit 0
            ;;
    esac
fi
check_needs
umask 0022
mkdir -p "$install_path"
put_package
set_modes "$(package_root)"
say INFO "$(success_line)"
[ "$fault" = success-2 ] && exit 2
exit 0
