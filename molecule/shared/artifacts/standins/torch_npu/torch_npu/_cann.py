# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The environment of CANN as the real torch_npu needs it: libraries by LD_LIBRARY_PATH, then the vendor's variables."""

from __future__ import annotations

import os

# First of the libraries that libtorch_npu.so is linked with: its absence is what people see.
LIBRARY = "libhccl.so"
SOURCE = "If exist, please run 'source set_env.sh' in the CANN installation path."


def load_libraries() -> None:
    """Raise the dynamic loader's words when no folder of LD_LIBRARY_PATH has the library."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    if not any(folder and os.path.exists(os.path.join(folder, LIBRARY)) for folder in folders):
        raise ImportError(f"{LIBRARY}: cannot open shared object file: No such file or directory")


def check_environment() -> None:
    """With ASCEND_HOME_PATH set, the rest must be there too; the words are torch_npu's."""
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        return
    opp = os.environ.get("ASCEND_OPP_PATH")
    if not opp:
        raise Exception(
            "ASCEND_OPP_PATH environment variable is not set. "
            f"Please check whether the opp package has been installed. {SOURCE}"
        )
    wanted = {
        "OPP": ("opp", opp),
        "RUNTIME": ("runtime", f"{home}/runtime"),
        "COMPILER": ("compiler", f"{home}/compiler"),
    }
    for word, (package, path) in wanted.items():
        if not os.path.exists(path):
            raise Exception(
                f"ASCEND_{word}_PATH : {path} does not exist. "
                f"Please check whether the {package} package has been installed. {SOURCE}"
            )
