# One of the pieces that install.sh joins: they share variables.
# shellcheck shell=bash disable=SC2046,SC2154
# Parts that all fake packages share; sourced by install.sh.
LOG_FOLDER=/var/log/ascend_seclog
FAULTS=/etc/fake-npu/run-faults.json

# One JSON line for each call, written before anything else: a call that is killed counts too.
note_call() {
    mkdir -p "$LOG_FOLDER" 2>/dev/null
    python3 - "$PACKAGE" "$VERSION" "$CHIP" "$TMPDIR" "$HOME" "$@" >>"$LOG_FOLDER/fake_calls.log" 2>/dev/null <<'END'
import json, sys, time
package, version, chip, tmpdir, home = sys.argv[1:6]
print(json.dumps({"package": package, "version": version, "chip": chip, "argv": sys.argv[6:], "tmpdir": tmpdir,
                  "home": home, "time": round(time.time(), 3)}))
END
}

prepare_log() {
    case "$PACKAGE-$LAYOUT" in
        ops-legacy) log=$LOG_FOLDER/ascend_kernels_${CHIP}_install.log ;;
        ops-*) log=$LOG_FOLDER/ascend_ops_${CHIP}_install.log ;;
        *) log=$LOG_FOLDER/ascend_${PACKAGE}_install.log ;;
    esac
    : >>"$log" && chmod 640 "$log"
}

say() {
    printf '[%s] [%s] [%s]: %s\n' "$NAME" "$(date '+%Y%m%d-%H:%M:%S')" "$1" "$2" | tee -a "${log:-/dev/null}"
}

fail() {
    say ERROR "$1"
    exit 1
}

one_at_a_time() {
    exec 9>"$LOG_FOLDER/.installing"
    flock -n 9 || fail "ERR_NO:0x0094;ERR_DES:already a process being executed."
}

# Fault of this package: the entry "<package>-<version>" counts before "<package>".
read_fault() {
    [ -e "$FAULTS" ] || return 0
    python3 - "$FAULTS" "$PACKAGE-$VERSION" "$PACKAGE" <<'END'
import json, sys
faults = json.load(open(sys.argv[1]))
print(next((faults[key] for key in sys.argv[2:] if key in faults), ""))
END
}

# Folders of the path that exist must be root's and closed to the writing of others.
check_parents() {
    local folder=$1
    while [ -n "$folder" ]; do
        if [ -e "$folder" ]; then
            set -- $(stat -c '%u %a' "$folder")
            if [ "$1" != 0 ] || [ $((0$2 & 0022)) -ne 0 ] || [ $((0$2 & 0055)) -ne 45 ]; then
                fail "the given dir, or its parents, permission is invalid: $folder is $2 of uid $1."
            fi
        fi
        folder=${folder%/*}
    done
}

RECORD=/etc/Ascend/ascend_cann_install.info

# From 8.2 on another path than the recorded one is taken, and the record before is kept in a folder named by the time.
check_record() {
    [ "$path_given" = y ] && [ -e "$RECORD" ] || return 0
    local old
    old=$(sed -n 's/^Toolkit_InstallPath=//p' "$RECORD")
    case "$old" in
        "" | "$install_path"/*) ;;
        *)
            local kept
            kept=/etc/Ascend/$(date +%Y%m%d%H%M%S)
            mkdir -p "$kept" && cp -p "$RECORD" "$kept/"
            ;;
    esac
}

write_record() {
    mkdir -p /etc/Ascend && chmod 755 /etc/Ascend
    printf 'version=1.0\nToolkit_InstallPath=%s\n' "$1" >"$RECORD"
    chmod 644 "$RECORD"
}

# Without --install-for-all only root and root's group may look into the tree.
set_modes() {
    [ "$for_all" = y ] && return 0
    find "$1" -type d -exec chmod 750 {} + -o -type f -exec chmod o-rwx {} +
}

# Called in the middle of an installation: half of the files are there now, nothing that says "complete" is.
middle() {
    case "$fault" in
        half-fail) fail "$NAME install failed: write to $1 failed." ;;
        half-0)
            say ERROR "$NAME install failed, see $log."
            exit 0
            ;;
        hang) while :; do sleep 1 9>&-; done ;; # a killed installer must not leave its lock to a sleep
        slow:*) sleep "${fault#slow:}" 9>&- ;;
    esac
}

success_line() {
    local verb=install
    [ "$action" = upgrade ] && verb=upgrade
    case "$PACKAGE" in
        toolkit) echo "${NAME}_${VERSION}_linux-${ARCH} $verb success, installed in $install_path." ;;
        *) echo "$NAME $verb success" ;;
    esac
}

put() { # path, text, mode
    mkdir -p "${1%/*}"
    rm -f "$1"
    printf '%s\n' "$2" >"$1"
    chmod "${3:-444}" "$1"
}

from_template() { # template, path, mode: @ROOT@ is the install path, @TREE@ the version's folder
    mkdir -p "${2%/*}"
    rm -f "$2"
    sed -e "s|@ROOT@|$install_path|g" -e "s|@TREE@|$(package_root)|g" -e "s|@ARCH@|$ARCH|g" -e "s|@VERSION@|$VERSION|g" \
        "$here/$1" >"$2"
    chmod "$3" "$2"
}

install_info() { # package name, version, path
    printf 'package_name=%s\nversion=%s\ninnerversion=%s\n' "$1" "$2" "$PACKAGE_INNER"
    printf 'compatible_version=[V100R001C20],[V100R001C21],[V100R001C23],[V100R001C25]\narch=%s\nos=linux\npath=%s' "$ARCH" "$3"
}
