"""CollectSumsPass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from fhelium.compile.borders import block_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.pipeline import CompilePass
from fhelium.compile.placement import Site
from fhelium.ir.dialects.ckks import (
    AddManyOp,
    AddOp,
    MultiplyPlaintextOp,
    SumPlaintextProductsOp,
)


@dataclass(frozen=True)
class CollectSumsPass(CompilePass):
    """Add up the terms of a sum in one operation, products with public vectors among them.

    Args:
        least_terms: Sums of so many terms and more are collected; a shorter one is added in place.

    Example:
        >>> from fhelium import compile as fc
        >>> given = fc.capture(
        ...     lambda x: x + 2 * x + x * x + torch.roll(x, 3),
        ...     inputs={"x": fc.encrypted(polynomial_domain="ntt")},
        ...     workspace=captured.workspace,
        ... )
        >>> found = fc.default_lower_and_fuse_pipeline().run(given)
        >>> [op.name for op in found.program.operations].count("ckks.add_many")
        1
    """

    least_terms: int = 4

    def run(self, compilation: Compilation) -> None:
        program = compilation.program
        site = Site(program, compilation.workspace.config)
        for operation in reversed(program.operations):
            if not isinstance(operation, AddOp) or operation.parent is None:
                continue  # another operation, or one that went with a sum around it
            if not _inside_a_sum(operation):
                self._collect(site, operation)

    def _collect(self, site: Site, total: AddOp) -> None:
        terms = _terms(total)
        products = [value for value in terms if _is_product(value)]
        rest = [value for value in terms if not _is_product(value)]
        if len(products) < 2:
            products, rest = [], terms
        else:
            pairs = [
                value.owner.operands for value in products if isinstance(value.owner, Operation)
            ]
            lists = [[pair[side] for pair in pairs] for side in (0, 1)]
            rest = [site.insert(total, SumPlaintextProductsOp, *lists), *rest]
        if products or len(rest) >= self.least_terms:
            Rewriter.replace_op(total, [], [self._sum(site, total, rest)])

    def _sum(self, site: Site, anchor: AddOp, terms: list[SSAValue]) -> SSAValue:
        if len(terms) >= self.least_terms:
            return site.insert(anchor, AddManyOp, terms)
        value = terms[0]
        for term in terms[1:]:
            value = site.insert(anchor, AddOp, value, term)
        return value


def _used_once(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


def _inside_a_sum(operation: AddOp) -> bool:
    """Say whether the one use of a sum is another sum."""
    users = [use.operation for use in operation.result.uses]
    inside = len(users) == 1 and isinstance(users[0], AddOp)
    return inside and users[0].parent is operation.parent


def _terms(operation: AddOp) -> list[SSAValue]:
    found: list[SSAValue] = []
    for value in (operation.lhs, operation.rhs):
        owner = value.owner
        alone = _used_once(value) and block_of(value) is operation.parent
        inner = isinstance(owner, AddOp) and alone
        found += _terms(owner) if inner and isinstance(owner, AddOp) else [value]
    return found


def _is_plain_product(operation: object) -> bool:
    return isinstance(operation, MultiplyPlaintextOp) and operation.output_domain is None


def _is_product(value: SSAValue) -> bool:
    return _is_plain_product(value.owner) and _used_once(value)
