"""Link stubs of the CANN libraries that a real torch_npu needs: it loads and counts devices without CANN or an NPU.

Every symbol that torch_npu's libraries leave undefined, and that neither torch, Python nor the C libraries define,
becomes a C function that returns 0. Two of them answer: the device count (from FAKE_NPU_COUNT) and the SoC name. An
operation on a tensor still fails, as it must.
"""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

SYSTEM_LIBRARIES = (
    "libc.so.6",
    "libm.so.6",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libdl.so.2",
    "libpthread.so.0",
)
ANSWERS = {
    "aclrtGetDeviceCount": "int aclrtGetDeviceCount(unsigned *n) "
    '{ const char *e = getenv("FAKE_NPU_COUNT"); *n = e ? atoi(e) : 0; return 0; }',
    "aclrtGetSocName": 'const char *aclrtGetSocName(void) { return "Ascend910B4"; }',
    "aclGetRecentErrMsg": 'const char *aclGetRecentErrMsg(void) { return "link stub of CANN"; }',
}


def dynamic_symbols(library: Path, which: str) -> set[str]:
    """Names of a library's dynamic symbols, versions cut off; `which` is --undefined-only or --defined-only."""
    done = subprocess.run(["nm", "-D", which, str(library)], capture_output=True, text=True, check=False)
    symbols = set()
    for line in done.stdout.splitlines():
        fields = line.split()
        weak = which == "--undefined-only" and fields[-2] in "wv"
        if not weak:
            symbols.add(fields[-1].split("@")[0])
    return symbols


def needed_libraries(library: Path) -> set[str]:
    done = subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True, check=False)
    return {line.split("[")[1].rstrip("]") for line in done.stdout.splitlines() if "(NEEDED)" in line}


def system_library(name: str) -> Path | None:
    done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    return path if path.is_absolute() else None


def missing_symbols(site: Path) -> tuple[set[str], set[str]]:
    """({symbols nobody defines}, {libraries nobody brings}) of the torch_npu in a site-packages folder."""
    ours = [path for path in (site / "torch_npu").rglob("*.so*") if path.is_file()]
    undefined = set().union(*(dynamic_symbols(path, "--undefined-only") for path in ours))
    python = Path(sysconfig.get_config_var("LIBDIR")) / (sysconfig.get_config_var("LDLIBRARY") or "")
    theirs = [*(site / "torch" / "lib").glob("*.so*"), python, *filter(None, map(system_library, SYSTEM_LIBRARIES))]
    defined = set().union(*(dynamic_symbols(path, "--defined-only") for path in [*ours, *theirs]))
    present = {path.name for path in [*ours, *theirs]} | {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    libraries = set().union(*(needed_libraries(path) for path in ours))
    symbols = {name for name in undefined - defined if not name.startswith(("Py", "_Py"))}
    absent = {name for name in libraries - present if system_library(name) is None}
    return symbols, absent


def build(site: Path, out: Path) -> dict[str, int]:
    """Write the stub libraries into a folder; {symbols, libraries} counts what was made."""
    symbols, libraries = missing_symbols(site)
    out.mkdir(parents=True, exist_ok=True)
    source = out / "stub.c"
    lines = ["#include <stdlib.h>"]
    lines += [ANSWERS.get(name, f"long {name}(void) {{ return 0; }}") for name in sorted(symbols)]
    source.write_text("\n".join(lines) + "\n")
    for library in sorted(libraries | {"libascendcl.so"}):
        code = str(source) if library == "libascendcl.so" else "/dev/null"
        command = ["gcc", "-shared", "-fPIC", "-w", "-x", "c", code, f"-Wl,-soname,{library}", "-o", str(out / library)]
        subprocess.run(command, check=True)
    source.unlink()
    return {"symbols": len(symbols), "libraries": len(libraries | {"libascendcl.so"})}
