# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put an artifact on the node; documented as the module ``artifact``."""

from __future__ import annotations

import posixpath
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.ascend.fleet.plugins.plugin_utils import artifacts, staging

OPTIONS = {
    "name": {"type": "str"},
    "version": {"type": "str"},
    "platform": {"type": "dict", "default": {}},
    "dest": {"type": "path", "default": "/var/cache/ascend-fleet"},
    "wheels": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Resolves on the controller, hashes where the file is, moves bytes with the builtin actions."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        self._vars = task_vars or {}
        result = super().run(tmp, self._vars)
        _spec, options = self.validate_argument_spec(argument_spec=OPTIONS, required_if=[("wheels", False, ["name"])])
        sources = self._templar.template(self._vars.get("ascend_artifacts"))
        platform = {key: value for key, value in options["platform"].items() if value}
        if "python" in platform:
            platform["python"] = staging.python_tag(platform["python"])
        try:
            reads = self._reads(sources)
            if options["wheels"]:
                answer = self._wheels(artifacts.wheels(sources, platform, reads), options["dest"])
            else:
                found = artifacts.resolve(sources, options["name"], options["version"], platform, reads)
                answer = self._file(found, options["dest"])
        except artifacts.ArtifactError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        result.update(answer)
        return result

    # where it lies ------------------------------------------------------------------------------------------------

    def _reads(self, sources: Any) -> dict[str, str | None]:
        """Manifests on the node: what the probe of this run read, else read now."""
        facts = self._templar.template(self._vars.get("ascend_probe_result") or {}).get("ansible_facts") or {}
        reads = dict(facts.get("ascend_reads") or {})
        for path in artifacts.node_manifests(sources):
            if path not in reads:
                seen = self._low_level_execute_command("cat -- %s 2>/dev/null" % self._connection._shell.quote(path))
                reads[path] = seen["stdout"] if seen["rc"] == 0 else None
        return reads

    def _hashes(self, paths: list[str], folder: str | None = None) -> dict[str, str]:
        """{path: sha256} of files on the node; with a folder, it is made first (not in check mode)."""
        command = staging.hash_command(paths, None if self._task.check_mode else folder)
        seen = self._low_level_execute_command(command)
        if seen["rc"]:
            why = (seen["stderr"] or seen["stdout"]).strip()
            raise AnsibleActionFail("The node cannot make %s (%s). Choose another dest." % (folder, why))
        return staging.parse_hashes(seen["stdout"])

    # one file -----------------------------------------------------------------------------------------------------

    def _file(self, artifact: dict[str, Any], dest: str) -> dict[str, Any]:
        if artifact["where"] == "node":
            staging.first_difference([artifact], self._hashes([artifact["path"]]))
            return self._answer(artifact, artifact["path"], staged=False, changed=False)
        artifacts.check(artifact)
        path = posixpath.join(dest, staging.base_name(artifact))
        changed = self._hashes([path], dest).get(path) != artifact["sha256"]
        if changed and not self._task.check_mode:
            self._bring(artifact, path)
        return self._answer(artifact, path, staged=True, changed=changed)

    def _bring(self, artifact: dict[str, Any], path: str) -> None:
        if artifact["where"] == "controller":
            self._builtin("copy", {"src": artifact["path"], "dest": path, "mode": "0644", "decrypt": False})
            return
        wanted = {"url": artifact["path"], "dest": path, "checksum": "sha256:" + artifact["sha256"], "mode": "0644"}
        answer = self._execute_module("ansible.builtin.get_url", module_args=wanted, task_vars=self._vars)
        if answer.get("failed"):
            message = str(answer.get("msg"))
            other = staging.other_hash(message, artifact["sha256"])
            if other:
                raise artifacts.mismatch(artifact["path"], other, artifact["sha256"])
            raise AnsibleActionFail(
                "The node cannot fetch %s: %s. Try 'curl -fI %s' on the node; a proxy is set with ascend_proxy_env."
                % (artifact["path"], message.rstrip("."), artifact["path"])
            )

    def _answer(self, artifact: dict[str, Any], path: str, staged: bool, changed: bool) -> dict[str, Any]:
        answer = {"path": path, "sha256": artifact["sha256"], "staged": staged, "changed": changed}
        if changed:
            answer["would"] = ["put %s on the node as %s" % (artifact["path"], path)]
            answer["diff"] = {"before": "", "after": "%s  %s\n" % (artifact["sha256"], path), "after_header": path}
        return answer

    # all wheels ---------------------------------------------------------------------------------------------------

    def _wheels(self, found: list[dict[str, Any]], dest: str) -> dict[str, Any]:
        folder = posixpath.join(dest, "wheels")
        if not found:
            return {"path": "", "files": [], "staged": False, "changed": False}
        if found[0]["where"] == "node":
            return self._wheels_of_node(found, folder)
        paths = {posixpath.join(folder, staging.base_name(wheel)): wheel for wheel in found}
        have = self._hashes(list(paths), folder)
        lacking = [path for path, wheel in paths.items() if have.get(path) != wheel["sha256"]]
        if lacking and not self._task.check_mode:
            if found[0]["where"] == "controller":
                source = staging.archive(found)  # the whole set: one archive serves the fleet
                self._builtin("unarchive", {"src": source, "dest": folder, "extra_opts": ["--no-same-owner"]})
                there = [dict(paths[path], path=path) for path in lacking]
                staging.first_difference(there, self._hashes(lacking))
            else:
                for path in lacking:
                    self._bring(paths[path], path)
        answer = {"path": folder, "files": sorted(paths), "staged": True, "changed": bool(lacking)}
        if lacking:
            answer["would"] = ["put %d wheels on the node into %s" % (len(lacking), folder)]
        return answer

    def _wheels_of_node(self, found: list[dict[str, Any]], folder: str) -> dict[str, Any]:
        """The node's own folder is used in place; wheels that lie in several are linked into one."""
        paths = [wheel["path"] for wheel in found]
        staging.first_difference(found, self._hashes(paths))
        homes = {posixpath.dirname(path) for path in paths}
        if len(homes) == 1:
            return {"path": homes.pop(), "files": sorted(paths), "staged": False, "changed": False}
        links = sorted(posixpath.join(folder, posixpath.basename(path)) for path in paths)
        have = self._hashes(links, folder)
        changed = {posixpath.basename(path) for path in have} != {posixpath.basename(path) for path in paths}
        if changed and not self._task.check_mode:
            quote = self._connection._shell.quote
            self._low_level_execute_command("ln -sf -- %s %s" % (" ".join(map(quote, paths)), quote(folder)))
        return {"path": folder, "files": links, "staged": True, "changed": changed}

    # builtin actions ----------------------------------------------------------------------------------------------

    def _builtin(self, name: str, options: dict[str, Any]) -> None:
        """Run a builtin action in place of this one, on the same connection; its failure is ours."""
        task = self._task.copy()
        task.args = options
        action = self._shared_loader_obj.action_loader.get(
            "ansible.builtin." + name,
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        answer = action.run(task_vars=self._vars)
        if answer.get("failed"):
            raise AnsibleActionFail(
                "%s did not get to the node: %s. Look at the room in %s and in the remote temporary folder."
                % (options["src"], str(answer.get("msg")).rstrip("."), options["dest"])
            )
