# Copyright: (c) 2026, the ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated Ascend servers on this machine: containers with a real systemd, reached by a real ssh, with fake cards.

    python3 molecule/shared/nodes/fleetnodes.py up --spec FILE --inventory OUT.yml [--group demo]
    python3 molecule/shared/nodes/fleetnodes.py list | reset NODE | exec NODE -- COMMAND… | down [--all] [--image]
    python3 molecule/shared/nodes/fleetnodes.py fault NODE '{"devices": {"2:0": {"health": "Alarm"}}}'

FLEET_NODES_ENGINE names another engine than podman, FLEET_NODES_IMAGE an image made by the command ``image`` elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import image
from fleet import EMPTY_INVENTORY, Fleet, groups
from fleet_engine import Engine, FleetError
from fleet_spec import GROUP, read

NODE_COMMANDS = {
    "reset": "the node as it was after up",
    "exec": "a command as root",
    "fault": "change the fake hardware",
}


def _say(line: str) -> None:
    print(line, flush=True)


def _group(text: str) -> str:
    if not GROUP.match(text):
        raise argparse.ArgumentTypeError("small letters, digits and underscores, please")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fleetnodes.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--group", default="default", type=_group, help="which fleet of this checkout")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", parents=[shared], help="fresh nodes, and an inventory of them")
    up.add_argument("--spec", required=True, type=Path)
    up.add_argument("--inventory", required=True, type=Path)
    up.add_argument("--keep", action="store_true", help="leave nodes that run as specified")
    down = commands.add_parser("down", parents=[shared], help="remove the nodes")
    down.add_argument("--all", action="store_true", help="of every group of this checkout")
    down.add_argument("--inventory", type=Path, help="a file to empty, if `up` was killed before it noted its own")
    down.add_argument("--image", action="store_true", help="and the image")
    commands.add_parser("list", parents=[shared], help="node, address, board, state")
    commands.add_parser("image", help="build the image, print its name")
    for name, text in NODE_COMMANDS.items():
        command = commands.add_parser(name, parents=[shared], help=text)
        command.add_argument("node")
        if name == "fault":
            command.add_argument("change", help="JSON object that is merged into the state")
        if name == "exec":
            command.add_argument("argv", nargs=argparse.REMAINDER)
    return parser


def _down(engine: Engine, options: argparse.Namespace) -> None:
    for group in groups(engine) if options.all else [options.group]:
        gone = Fleet(engine, group, _say).down()
        _say(f"{group}: removed {len(gone)} node{'' if len(gone) == 1 else 's'}")
    if options.inventory:
        options.inventory.parent.mkdir(parents=True, exist_ok=True)
        options.inventory.write_text(EMPTY_INVENTORY)
    if options.image:
        for name in image.remove(engine):
            _say(f"removed image {name}")


def main(words: list[str]) -> int:
    """Exit status: 0, or 1 with one line on standard error that names cause and remedy."""
    options = _parser().parse_args(words)
    try:
        engine = Engine()
        if options.command == "image":
            _say(image.ensure(engine, lambda line: print(line, file=sys.stderr)))
            return 0
        fleet = Fleet(engine, getattr(options, "group", "default"), _say)
        if options.command == "up":
            nodes, shared = read(options.spec)
            fleet.up(nodes, shared, options.inventory, options.keep)
        elif options.command == "down":
            _down(engine, options)
        elif options.command == "list":
            for row in fleet.listing():
                _say("\t".join(row))
        elif options.command == "reset":
            fleet.reset(options.node)
        elif options.command == "fault":
            change = json.loads(options.change)
            if not isinstance(change, dict):
                raise ValueError("it is no object")
            fleet.fault(options.node, change)
        else:
            argv = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
            engine.replace("exec", "-i", fleet.existing(options.node), *(argv or ["bash"]))
    except FleetError as error:
        print(f"fleetnodes: {error}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"fleetnodes: the change is not a JSON object: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
