# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a ready runtime and a model on a node, as the layers below would leave them: env, env file, state."""

from __future__ import annotations

import json
import os
import sys

PREFIX = "/opt/ascend-fleet/envs/%s"


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)
    os.chmod(path, mode)


def main(identity, server):
    prefix = PREFIX % identity
    write(prefix + "/bin/vllm", '#!/bin/sh\nexec %s/bin/python %s "$@"\n' % (prefix, server), 0o755)
    if not os.path.lexists(prefix + "/bin/python"):
        os.symlink("/usr/bin/python3", prefix + "/bin/python")
    env_file = "/etc/ascend-fleet/runtimes/%s.env" % identity
    write(env_file, 'ASCEND_HOME_PATH="/usr/local/Ascend/cann-9.1.0"\nPATH="%s/bin:/usr/bin:/bin"\n' % prefix)
    have = {
        "id": identity,
        "kind": "native",
        "release": "0.23.0",
        "family": "910b",
        "exec": [prefix + "/bin/vllm"],
        "env_file": env_file,
        "prefix": prefix,
        "versions": {"vllm": "0.23.0", "vllm_ascend": "0.23.0"},
        "device_type": "A2",
    }
    state = {
        "schema": 1,
        "layer": "vllm_ascend",
        "key": identity,
        "status": "complete",
        "origin": "installed",
        "have": have,
        "sha256": None,
        "when": "2026-12-01T00:00:00Z",
        "collection": "0.1.0",
        "by": "prepare",
        "made": {"paths": [], "links": [], "users": [], "units": [], "packages": []},
        "files": {},
        "previous": None,
    }
    write("/var/lib/ascend-fleet/vllm_ascend/%s.json" % identity, json.dumps(state))
    write("/srv/models/tiny/config.json", json.dumps({"architectures": ["TinyForCausalLM"], "torch_dtype": "float16"}))
    write("/srv/models/tiny/model.safetensors", "tiny")


if __name__ == "__main__":
    main(*sys.argv[1:])
