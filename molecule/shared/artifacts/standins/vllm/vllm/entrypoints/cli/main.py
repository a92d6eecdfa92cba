# Copyright: (c) 2026, The ascend.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The vllm command. The platform is resolved first, as in the real one: without it not even --version answers."""

from __future__ import annotations

import sys

from vllm import arguments, platforms, server


def main() -> int:
    """Entry point of the console script; argparse leaves with 2 by itself, whatever else is wrong is a traceback."""
    platform = platforms.current_platform()
    parser = arguments.build_parser()
    args = parser.parse_args(arguments.expand(sys.argv[1:]))
    if args.subparser != "serve":
        parser.print_help()
        return 0
    return server.serve(args, platform)


if __name__ == "__main__":
    sys.exit(main())
