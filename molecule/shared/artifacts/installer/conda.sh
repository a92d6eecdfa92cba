# shellcheck shell=bash
# Shell functions of conda, as far as `conda activate` and `conda run` need them: the vendored copy brings none.
_fleet_conda_eval() {
    local script
    script=$("$CONDA_EXE" shell.posix "$@") || return
    eval "$script"
    hash -r
}

conda() {
    case "${1-}" in
        activate | deactivate) _fleet_conda_eval "$@" ;;
        *) "$CONDA_EXE" "$@" ;;
    esac
}
