"""Every finding of data/findings.yml is produced by one change of a host that has none."""

from __future__ import annotations

import copy
from typing import Any, Callable

import judged_host as host
import pytest
from ansible_collections.ascend.fleet.plugins.plugin_utils import verdict
from hypothesis import given
from hypothesis import strategies as st

RID = host.row()["runtime_id"]
PREFIX = "/opt/ascend-fleet/envs/" + RID


class World:
    """What a case changes: facts, settings, row, and parts of the wanted state that are set last."""

    def __init__(self) -> None:
        self.facts = copy.deepcopy(host.facts())
        self.settings = host.settings()
        self.row = host.row()
        self.more: dict[str, Any] = {}
        self.layers = list(verdict.LAYERS)

    @property
    def npu(self) -> dict[str, Any]:
        return self.facts["ascend_npu"]

    def instance(self, **more: Any) -> None:
        self.settings["vllm_service_instances"] = [host.instance(**more)]

    def judge(self) -> list[dict[str, Any]]:
        wanted = dict(host.wanted(self.facts, self.settings, self.row), **self.more)
        return verdict.verdict(self.facts, wanted, self.layers)


def change(**paths: Any) -> Callable[[World], None]:
    """A case that sets facts by path, with two underscores between the keys: npu__smi__path=None."""

    def apply(world: World) -> None:
        for path, value in paths.items():
            *parents, last = path.split("__")
            place = world.facts["ascend_" + parents[0]]
            for key in parents[1:]:
                place = place[key]
            place[last] = value

    return apply


def one(**more: Any) -> Callable[[World], None]:
    return lambda world: world.instance(**more)


def two(**more: Any) -> Callable[[World], None]:
    def apply(world: World) -> None:
        first = host.instance(devices=["0"], settings={})
        second = dict({"name": "more", "port": 8001, "devices": ["1"], "model": "m"}, **more)
        world.settings["vllm_service_instances"] = [first, second]

    return apply


def more(**words: Any) -> Callable[[World], None]:
    return lambda world: world.more.update(words)


def setting(**words: Any) -> Callable[[World], None]:
    return lambda world: world.settings.update(words)


def rowed(**words: Any) -> Callable[[World], None]:
    return lambda world: world.row.update(words)


def trouble(layer: str, problem: str) -> Callable[[World], None]:
    lack = {"layer": layer, "problem": problem, "have": "nothing", "want": "a file", "remedy": "Put it there."}
    return more(artifacts=[lack])


def model(**words: Any) -> Callable[[World], None]:
    return lambda world: world.facts["ascend_models"]["/srv/models/tiny"].update(words)


def both(*cases: Callable[[World], None]) -> Callable[[World], None]:
    def apply(world: World) -> None:
        for case in cases:
            case(world)

    return apply


def unknown_pci(world: World) -> None:
    world.more["family"] = None
    world.npu["devices"] = [host.device(0, family=None)]
    world.npu["pci"] = []


def no_npu(world: World) -> None:
    world.more["family"] = None
    world.npu.update(devices=[], pci=[], device_nodes=[])


def forget(layer: str, key: str) -> Callable[[World], None]:
    return lambda world: world.facts["ascend_stack"][layer].pop(key)


def rebuild_alone(*forgotten: tuple[str, str]) -> Callable[[World], None]:
    """The role vllm_ascend alone, with its own state and others gone."""

    def apply(world: World) -> None:
        for layer, key in (("vllm_ascend", RID), *forgotten):
            world.facts["ascend_stack"][layer].pop(key)
        world.layers = ["vllm_ascend"]

    return apply


def drifted(problem: str) -> Callable[[World], None]:
    def apply(world: World) -> None:
        drift = [{"path": PREFIX + "/bin/vllm", "problem": problem}]
        world.facts["ascend_stack"]["vllm_ascend"][RID]["drift"] = drift

    return apply


def service_alone(world: World) -> None:
    del world.facts["ascend_stack"]["vllm_ascend"][RID]
    world.layers = ["vllm_service"]


def no_tree(world: World) -> None:
    world.facts["ascend_cann"]["trees"] = []


def foreign_tree(world: World) -> None:
    world.facts["ascend_cann"]["trees"][0].update(complete=False, toolkit=None, origin="foreign")


def no_disk(world: World) -> None:
    no_tree(world)
    world.facts["ascend_host"]["disk"]["/usr/local/Ascend"]["free_mb"] = 10239


def tmp_noexec(world: World) -> None:
    no_tree(world)
    world.facts["ascend_host"]["disk"]["/tmp"]["noexec"] = True


def busy_card(world: World) -> None:
    world.npu["processes"] = [{"npu_id": 0, "chip_id": 0, "pid": 77, "name": "python3"}]


def foreign_port(world: World) -> None:
    world.facts["ascend_host"].update(ports=[8000], port_owners={"8000": {"pid": 7, "unit": "nginx.service"}})


CASES = {
    "host.release.unknown": both(
        rowed(), more(row=None, problem={"problem": "unknown", "have": "0.2", "near": ["0.23.0"], "known": ["0.23.0"]})
    ),
    "host.override.invalid": more(row=None, problem={"problem": "override", "have": "canm", "near": [], "text": "No."}),
    "host.release.unsupported": rowed(supported=False),
    "host.release.undocumented": rowed(supported=None),
    "host.variable.misspelt": more(misspelt=[{"name": "cann_verson", "meant": "cann_version"}]),
    "host.variable.invalid": more(invalid=[{"name": "cann_accept_eula", "have": "a list", "want": "true or false"}]),
    "host.npu.none": no_npu,
    "host.npu.unknown": unknown_pci,
    "host.npu.mixed": both(more(family=None), change(npu__devices=[host.device(0), host.device(1, family="310p")])),
    "host.arch.unknown": change(host__arch="riscv64"),
    "host.os.unknown": change(host__os={"id": "arch", "family": None}),
    "host.python.unsupported": change(host__python={"version": "3.7.9"}),
    "host.room.short": no_disk,
    "host.tmp.noexec": tmp_noexec,
    "npu_driver.smi.missing": change(npu__smi={"path": None, "usable": False, "error": None}),
    "npu_driver.smi.unusable": change(
        npu__smi={
            "path": "/x",
            "usable": False,
            "error": {"text": "ret is -8005", "code": -8005, "meaning": "not loaded"},
        }
    ),
    "npu_driver.smi.truncated": change(npu__truncated=True),
    "npu_driver.smi.complains": change(npu__warnings=["may not be completely installed"]),
    "npu_driver.version.unknown": change(npu__driver=None),
    "npu_driver.version.outside": change(npu__driver__version="25.0.rc1.1"),
    "npu_driver.version.undocumented": rowed(hdk=None),
    "npu_driver.driver.incomplete": change(npu__driver__install_status="installing"),
    "npu_driver.driver.reboot_pending": change(npu__driver__reboot_pending=True),
    "npu_driver.firmware.mixed": change(npu__firmware__mixed=True),
    "npu_driver.device.sick": both(
        setting(vllm_service_instances=[]), change(npu__devices=[host.device(0), host.device(1, health="Alarm")])
    ),
    "npu_driver.device.lost": both(one(devices=["0"], settings={}), change(npu__devices=[host.device(0)])),
    "cann.tree.incomplete": foreign_tree,
    "cann.eula.not_accepted": both(no_tree, setting(cann_accept_eula=False)),
    "cann.path.invalid": setting(cann_install_path="opt/Ascend"),
    "conda_env.python.unsupported": rowed(python_default="3.13"),
    "conda_env.path.invalid": setting(conda_env_base="/opt/my conda"),
    "conda_env.base.foreign": both(
        forget("conda_env", "base"),
        lambda world: world.facts["ascend_envs"].update({"/opt/ascend-fleet/conda": {"exists": True, "packages": {}}}),
    ),
    "conda_env.env.foreign": forget("conda_env", RID),
    "conda_env.env.changed": lambda world: world.facts["ascend_envs"][PREFIX]["packages"].update({"torch": "2.9.0"}),
    "vllm_ascend.env.missing": rebuild_alone(("conda_env", RID)),
    "vllm_ascend.cann.missing": rebuild_alone(("cann", "env-9.1.0")),
    "vllm_ascend.runtime.changed": drifted("changed"),
    "vllm_service.instance.malformed": setting(vllm_service_instances=["chat"]),
    "vllm_service.instance.key_missing": one(model=""),
    "vllm_service.instance.key_unknown": one(modle="x"),
    "vllm_service.instance.name_invalid": one(name="Chat/1"),
    "vllm_service.instance.name_duplicate": two(name="chat"),
    "vllm_service.instance.state_invalid": one(state="running"),
    "vllm_service.members.unsupported": one(members=["10.0.0.1"]),
    "vllm_service.port.invalid": one(port=80),
    "vllm_service.port.duplicate": two(port=8000),
    "vllm_service.port.taken": foreign_port,
    "vllm_service.port.reserved": one(port=60016),
    "vllm_service.device.invalid": one(devices=["npu0"], settings={}),
    "vllm_service.device.absent": one(devices=["0", "9"], settings={}),
    "vllm_service.device.sick": change(npu__devices=[host.device(0), host.device(1, health="Critical")]),
    "vllm_service.device.held": busy_card,
    "vllm_service.device.shared": two(devices=["0"]),
    "vllm_service.parallel.too_big": one(settings={"tensor-parallel-size": 4}),
    "vllm_service.parallel.too_small": one(settings={}),
    "vllm_service.parallel.heads": both(model(config={"num_attention_heads": 15}), one()),
    "vllm_service.setting.unknown": one(settings={"tensor-parallel-size": 2, "max-modle-len": 4096}),
    "vllm_service.setting.choice": one(settings={"tensor-parallel-size": 2, "dtype": "bf16"}),
    "vllm_service.setting.unchecked": more(options=None),
    "vllm_service.setting.secret": one(settings={"tensor-parallel-size": 2, "api_key": "hidden-word"}),
    "vllm_service.setting.reserved": one(settings={"tensor-parallel-size": 2, "port": 8000}),
    "vllm_service.env.reserved": one(env={"ASCEND_RT_VISIBLE_DEVICES": "0"}),
    "vllm_service.env.secret": one(env={"HF_TOKEN": "hidden-word"}),
    "vllm_service.dtype.unsupported": more(family="310p"),
    "vllm_service.model.missing": model(exists=False),
    "vllm_service.model.incomplete": model(missing_weights=["model-00002.safetensors"]),
    "vllm_service.runtime.missing": service_alone,
    "vllm_service.runtime.family": lambda world: world.facts["ascend_stack"]["vllm_ascend"][RID]["have"].update(
        family="a3"
    ),
}
for _layer in ("cann", "conda_env", "vllm_ascend"):
    for _problem in ("missing", "unreadable", "sha256", "manifest"):
        CASES["%s.artifact.%s" % (_layer, _problem)] = trouble(_layer, _problem)


def test_a_host_that_is_as_it_should_be_has_no_findings() -> None:
    assert World().judge() == []


def test_every_finding_of_the_table_has_a_case_and_the_other_way_round() -> None:
    assert sorted(CASES) == sorted(host.TABLES["findings"]["findings"])


@pytest.mark.parametrize("name", sorted(CASES))
def test_one_change_makes_the_finding(name: str) -> None:
    world = World()
    CASES[name](world)
    found = [finding for finding in world.judge() if finding["id"] == name]
    assert found, "not found: %s" % [finding["id"] for finding in world.judge()]
    for finding in found:
        entry = host.TABLES["findings"]["findings"][name]
        assert finding["severity"] == entry["severity"]
        assert finding["layer"] == name.split(".", maxsplit=1)[0]
        assert finding["remedy"].endswith((".", "?")) and len(finding["remedy"]) > 2
        assert finding["have"] not in (None, "") and finding["want"] not in (None, "")
        assert "hidden-word" not in str(finding)


@pytest.mark.parametrize("name", sorted(CASES))
def test_no_case_makes_findings_of_layers_that_are_not_asked(name: str) -> None:
    world = World()
    CASES[name](world)
    world.layers = ["npu_driver"]
    assert {finding["layer"] for finding in world.judge()} <= {"host", "npu_driver"}


def test_without_a_named_folder_one_good_folder_for_temporary_files_is_enough() -> None:
    world = World()
    no_tree(world)
    world.settings["cann_tmp_dir"] = ""
    disk = world.facts["ascend_host"]["disk"]
    disk["/var/tmp"] = dict(disk["/tmp"], noexec=True)
    assert world.judge() == []
    disk["/tmp"]["free_mb"] = 0
    world.more["steps"] = {
        "cann": [{"kind": "package", "package": "ops", "version": "1", "artifact": {"size": 2 << 20}}]
    }
    assert [finding["id"] for finding in world.judge()] == ["host.tmp.noexec", "host.room.short"]


def test_a_device_that_must_be_well_makes_an_error_of_the_warning() -> None:
    world = World()
    world.settings.update(vllm_service_instances=[], npu_driver_devices=["1"])
    world.npu["devices"][1]["health"] = "Alarm"
    assert [(one["id"], one["severity"]) for one in world.judge()] == [("npu_driver.device.sick", "error")]
    world.settings["npu_driver_devices"] = ["7:0"]
    assert ("npu_driver.device.lost", "error") in [(one["id"], one["severity"]) for one in world.judge()]


def test_a_runtime_in_use_that_lost_a_part_is_an_error() -> None:
    world = World()
    drifted("missing")(world)
    assert [(one["id"], one["severity"]) for one in world.judge()] == [("vllm_ascend.runtime.changed", "error")]


def test_definitions_are_judged_even_when_there_is_no_release() -> None:
    world = World()
    world.more["problem"] = {"problem": "unknown", "have": "x", "near": [], "known": ["0.23.0"]}
    world.more["row"] = None
    world.instance(port=1)
    ids = [finding["id"] for finding in world.judge()]
    assert ids[:2] == ["host.release.unknown", "vllm_service.port.invalid"]


def test_check_mode_takes_a_lower_layer_that_is_not_there_for_planned() -> None:
    for case in ("vllm_ascend.env.missing", "vllm_ascend.cann.missing", "vllm_service.runtime.missing"):
        world = World()
        CASES[case](world)
        world.more["check"] = True
        assert case not in [finding["id"] for finding in world.judge()]


def test_all_layers_together_need_no_layer_beforehand() -> None:
    world = World()
    world.facts["ascend_stack"] = {}
    world.facts["ascend_envs"] = {}
    world.facts["ascend_cann"] = {"trees": [], "nnal": [], "active": None}
    assert world.judge() == []


@pytest.mark.parametrize("running", [True, False])
def test_processes_on_a_card_of_a_running_instance_are_ours(running: bool) -> None:
    world = World()
    busy_card(world)
    world.facts["ascend_units"][host.UNIT]["active"] = "active" if running else "failed"
    assert [finding["id"] for finding in world.judge()] == ([] if running else ["vllm_service.device.held"])


def test_a_process_that_is_known_to_be_foreign_is_not_ours_though_our_unit_runs() -> None:
    world = World()
    world.facts["ascend_units"][host.UNIT]["active"] = "active"
    world.npu["holders"] = [
        {"device": "/dev/davinci1", "pid": 9, "unit": None, "container": "c0ffee", "command": "train"}
    ]
    assert [finding["id"] for finding in world.judge()] == ["vllm_service.device.held"]


def test_a_port_of_our_own_unit_is_not_taken() -> None:
    world = World()
    world.facts["ascend_host"].update(ports=[8000], port_owners={"8000": {"pid": 7, "unit": host.UNIT}})
    assert world.judge() == []
    world.facts["ascend_host"]["port_owners"] = {}
    world.facts["ascend_units"][host.UNIT]["active"] = "active"
    assert world.judge() == []


def test_a_port_moves_from_one_instance_to_another_in_one_run() -> None:
    world = World()
    world.settings["vllm_service_instances"] = [
        host.instance(port=8001),
        dict(host.instance(), name="old", state="absent"),
    ]
    owner = {"8001": {"pid": 7, "unit": "ascend-vllm-old.service"}}
    world.facts["ascend_host"].update(ports=[8001], port_owners=owner)
    assert world.judge() == []


def test_an_id_that_yaml_made_a_number_is_explained() -> None:
    world = World()
    world.instance(devices=[60], settings={})
    assert "quotes" in world.judge()[0]["remedy"]


def test_unknown_options_are_told_with_the_nearest_name() -> None:
    world = World()
    world.instance(settings={"tensor_parallel_sise": 2})
    finding = next(one for one in world.judge() if one["id"] == "vllm_service.setting.unknown")
    assert finding["remedy"] == "Did you mean tensor-parallel-size?"


@pytest.mark.parametrize("value", [True, {"mode": 3}, ["a"], 1.5, None])
def test_values_without_choices_are_not_compared(value: Any) -> None:
    world = World()
    world.instance(settings={"tensor-parallel-size": 2, "compilation-config": value, "compilation-config.mode": 3})
    assert world.judge() == []


def test_layers_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="no such layer: cnan"):
        verdict.verdict({}, {}, ["cnan"])


def test_facts_that_nobody_asked_for_are_not_judged() -> None:
    assert verdict.verdict({}, {}, list(verdict.LAYERS)) == []


def test_worst_and_what_refuses() -> None:
    assert verdict.worst([]) is None
    assert verdict.worst([{"severity": "info"}, {"severity": "warning"}]) == "warning"
    assert verdict.reaches("error", "error") and verdict.reaches("warning", "warning")
    assert not verdict.reaches("warning", "error") and not verdict.reaches("error", "none")
    assert not verdict.reaches(None, "warning")


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 70000) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(junk, junk, junk, junk)
def test_definitions_of_any_shape_make_findings_and_no_traceback(
    name: Any, devices: Any, settings: Any, port: Any
) -> None:
    world = World()
    world.settings["vllm_service_instances"] = [
        {"name": name, "devices": devices, "settings": settings, "port": port},
        name,
    ]
    world.layers = ["vllm_service"]
    for finding in world.judge():
        assert finding["id"] in host.TABLES["findings"]["findings"]


@pytest.mark.parametrize(
    "words", [{"settings": "x"}, {"env": ["a"]}, {"devices": "0,1"}, {"secrets": "x"}, {"model": ["m"]}]
)
def test_a_definition_with_a_key_of_the_wrong_kind_is_told_once_and_left(words: dict[str, Any]) -> None:
    world = World()
    world.instance(**words)
    assert [finding["id"] for finding in world.judge()] == ["vllm_service.instance.malformed"]


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "VLLM_LOGGING_LEVEL", "MAX_TOKENS", "KEYBOARD"])
def test_variables_that_only_look_a_little_like_secrets_pass(name: str) -> None:
    world = World()
    world.instance(env={name: "1"})
    assert world.judge() == []


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "S3_SECRET_KEY", "db_password"])
def test_variables_that_look_like_secrets_are_told(name: str) -> None:
    world = World()
    world.instance(env={name: "1"})
    assert [finding["id"] for finding in world.judge()] == ["vllm_service.env.secret"]


@pytest.mark.parametrize(
    ("family", "dtype", "of_model", "refused"),
    [
        ("310p", None, "bfloat16", True),
        ("310p", "auto", "bfloat16", True),
        ("310p", "auto", "float16", False),
        ("310p", None, None, False),
        ("310p", "float16", "bfloat16", False),
        ("310p", "bfloat16", "float16", True),
        ("910b", "bfloat16", "bfloat16", False),
        ("310b", "bfloat16", "bfloat16", False),
    ],
)
def test_bfloat16_is_refused_where_the_chip_is_known_to_lack_it(
    family: str, dtype: str | None, of_model: str | None, refused: bool
) -> None:
    world = World()
    world.layers = ["vllm_service"]
    world.more["family"] = family
    world.facts["ascend_models"]["/srv/models/tiny"]["config"]["torch_dtype"] = of_model
    world.instance(settings={"tensor-parallel-size": 2, "dtype": dtype})
    assert ("vllm_service.dtype.unsupported" in [finding["id"] for finding in world.judge()]) is refused


def test_a_model_by_name_is_not_looked_for_on_the_node() -> None:
    world = World()
    world.instance(model="org/tiny")
    world.facts["ascend_models"] = {"org/tiny": {"exists": False}}
    assert world.judge() == []


def test_an_env_that_nobody_uses_is_repaired_without_a_finding() -> None:
    world = World()
    CASES["conda_env.env.changed"](world)
    world.facts["ascend_stack"]["vllm_service"] = {}
    assert world.judge() == []


def test_without_a_family_nothing_is_said_about_the_release_on_it() -> None:
    world = World()
    world.row["supported"] = None
    unknown_pci(world)
    assert [finding["id"] for finding in world.judge() if finding["layer"] == "host"] == ["host.npu.unknown"]


def test_two_families_are_told_even_when_one_is_chosen() -> None:
    world = World()
    world.npu["devices"][1]["family"] = "310p"
    assert [(finding["id"], finding["severity"]) for finding in world.judge()] == [("host.npu.mixed", "warning")]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"tensor-parallel-size": 1, "pipeline-parallel-size": 2}, []),
        ({"tensor-parallel-size": "2", "data-parallel-size": 2, "data-parallel-size-local": 1}, []),
        ({"tensor-parallel-size": 2, "data-parallel-size": 2}, ["vllm_service.parallel.too_big"]),
        ({"tensor-parallel-size": "two"}, ["vllm_service.parallel.too_small"]),
    ],
)
def test_sizes_multiply_to_the_devices_of_the_instance(settings: dict[str, Any], found: list[str]) -> None:
    world = World()
    world.instance(settings=settings)
    assert [finding["id"] for finding in world.judge()] == found


def test_an_instance_without_devices_has_all_of_the_node() -> None:
    world = World()
    world.instance(devices=[], settings={"tensor-parallel-size": 2})
    assert world.judge() == []


@pytest.mark.parametrize("state", ["stopped", "absent"])
def test_an_instance_that_shall_not_run_needs_no_free_card_and_no_free_port(state: str) -> None:
    world = World()
    busy_card(world)
    foreign_port(world)
    world.instance(state=state)
    assert world.judge() == []


@pytest.mark.parametrize("named", [True, False])
def test_a_device_moves_from_one_running_instance_to_another_in_one_run(named: bool) -> None:
    world = World()
    world.npu["processes"] = [{"npu_id": npu, "chip_id": 0, "pid": 9, "name": "VLLM::EngineCor"} for npu in (0, 1)]
    world.facts["ascend_units"]["ascend-vllm-old.service"] = {"active": "active"}
    states = world.facts["ascend_stack"]["vllm_service"]
    states["old"] = host.state("vllm_service", "old", devices=["0", "1"])
    world.instance(devices=["1"], settings={})
    if named:
        old = host.instance(name="old", port=8001, devices=["0"], settings={})
        world.settings["vllm_service_instances"].append(old)
    found = [(finding["id"], finding["have"]) for finding in world.judge()]
    held = "chat: device 1:0 is used by process 9 (ascend-vllm-old.service)"
    assert found == ([] if named else [("vllm_service.device.held", held)])
