"""Pictures of a Program's data flow as text for Graphviz and Mermaid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Operation, OpResult, SSAValue

from fhelium.errors import ProgramError
from fhelium.ir.function import FunctionModule
from fhelium.ir.types import StatefulType, python_of
from fhelium.text import scale_text


class Node(NamedTuple):
    """A box of the picture."""

    name: str
    label: str
    is_operation: bool


class Edge(NamedTuple):
    """An arrow of the picture."""

    source: str
    target: str
    label: str


def draw(program: FunctionModule, form: str) -> str:
    """Write a Program's picture; ``Program.draw`` says how."""
    writers = {"dot": _dot, "mermaid": _mermaid}
    if form not in writers:
        raise ProgramError(
            "draw",
            f"the form is {form!r}, needed is {' or '.join(map(repr, writers))}",
            "A picture is text for Graphviz or for Mermaid",
            "Pass one of the two",
        )
    names = {entry.value: f"in{index}" for index, entry in enumerate(program.inputs)}
    nodes = [Node(names[entry.value], entry.name, False) for entry in program.inputs]
    edges = []
    for index, operation in enumerate(program.operations):
        box = f"op{index}"
        nodes.append(Node(box, " ".join([operation.name, *_details(operation)]), True))
        blocks = (block for region in operation.regions for block in region.blocks)
        inside = (value for block in blocks for value in block.args)
        names.update(dict.fromkeys((*operation.results, *inside), box))
        edges += [Edge(names[value], box, _label(value)) for value in operation.operands]
    return writers[form](program.name, nodes, edges)


def _details(operation: Operation) -> Iterator[str]:
    for name, attribute in operation.properties.items():
        if name in ("step", "value", "symbol", "depth"):
            found = python_of(attribute)
            yield f"{len(found)} numbers" if isinstance(found, tuple) else f"{name} {found}"


def _label(value: SSAValue) -> str:
    """Say where on the modulus chain a value is; keys and tables go without."""
    if not isinstance(value.type, StatefulType):
        return ""
    known = value.type.known
    parts = [f"depth {known['depth']}"] if "depth" in known else []
    parts += [f"scale {scale_text(known['scale'])}"] if "scale" in known else []
    if isinstance(value, OpResult) and len(value.op.results) > 1:
        parts.append(f"result {value.index}")
    return ", ".join(parts)


def _dot(name: str, nodes: list[Node], edges: list[Edge]) -> str:
    lines = [f'digraph "{_escaped(name)}" {{', "  rankdir=TB"]
    for node in nodes:
        shape = "box" if node.is_operation else "ellipse"
        lines.append(f'  {node.name} [label="{_escaped(node.label)}", shape={shape}]')
    lines += [
        f'  {edge.source} -> {edge.target} [label="{_escaped(edge.label)}"]' for edge in edges
    ]
    return "\n".join([*lines, "}", ""])


def _mermaid(name: str, nodes: list[Node], edges: list[Edge]) -> str:
    lines = ["flowchart TB"]
    for node in nodes:
        left, right = ("[", "]") if node.is_operation else ("([", "])")
        lines.append(f'  {node.name}{left}"{_quoted(node.label)}"{right}')
    for edge in edges:
        label = f'|"{_quoted(edge.label)}"|' if edge.label else ""
        lines.append(f"  {edge.source} -->{label} {edge.target}")
    return "\n".join([*lines, ""])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _quoted(text: str) -> str:
    for character, name in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(character, name)
    return text.replace("\n", " ")
