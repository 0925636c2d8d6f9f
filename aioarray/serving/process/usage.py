"""What ``aioarray serve --help`` says. It is not what reads the command line: options can be of one model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from .configuration import CHECK, CONFIG
from .settings import MODEL_OPTIONS, SERVER_OPTIONS, shown

if TYPE_CHECKING:
    from .settings import Option

MODEL_HELP: Final = """minilm (sentence embeddings); an ONNX file, or a folder of them as NAME/VERSION/model.onnx; a
file written by aio.export.save or jax.export; or MODULE:ATTRIBUTE of an aio.serving.Model, of a function without
parameters that makes one or several, or of a function of arrays with --input for each"""
EPILOG: Final = """Every option can also stand in a file (--config), and in the environment as AIOARRAY_ and its name in
capitals. The command line goes before the environment, and that before the file. Exit status: 0 after a signal, 1 where
the port is taken, 2 for what is not to be had, 3 where a model cannot be started."""


def serve_parser() -> argparse.ArgumentParser:
    """Knows how to print help, and what was wrong."""
    parser = argparse.ArgumentParser(
        prog="aioarray serve",
        usage="aioarray serve [OPTION ...] MODEL [OPTION OF IT ...] [MODEL ...]",
        description="Start an inference server.",
        epilog=EPILOG,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("model", metavar="MODEL", nargs="*", help=MODEL_HELP)
    add(f"--{CONFIG}", metavar="FILE", help="options in TOML, with a table [[models]] for each model")
    add(CHECK, action="store_true", help="check options, files, port and models, and serve nothing")
    for option in SERVER_OPTIONS.values():
        _add(parser, option)
    models = parser.add_argument_group(
        "options of models", "in front of the first MODEL for all of them, behind one for that one"
    )
    for option in MODEL_OPTIONS.values():
        _add(models, option)
    return parser


def _add(where: Any, option: Option) -> None:
    default = "" if option.default in (None, (), "") else f" (default: {shown(option.default)})"
    text = (option.help + default).replace("%", "%%")
    if option.kind is bool:
        where.add_argument(option.flag, action=argparse.BooleanOptionalAction, help=text)
    else:
        metavar = "{" + ",".join(option.choices) + "}" if option.choices else (option.unit or "N").upper()
        where.add_argument(option.flag, metavar=metavar, help=text)
