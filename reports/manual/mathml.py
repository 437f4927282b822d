"""Sphinx extension: formulas as MathML, which browsers draw without any script."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)
# What docutils' converter does not know.
_REPLACED = {r"\\dots(?![a-z])": r"\\ldots", r"\\[bB]igg?[lrm]?(?![a-z])": ""}


def _markup(node, *, block):
    tex = node.astext().strip()
    for command, plain in _REPLACED.items():
        tex = re.sub(command, plain, tex)
    if block and "\\\\" in tex and "\\begin{" not in tex:
        tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    try:
        return tex2mathml(tex, as_block=block)
    except MathError as error:
        _LOGGER.warning("no MathML for %r: %s", tex, error, location=node)
        return f"<code>{tex}</code>"


def _inline(self, node):
    self.body.append(f'<span class="math">{_markup(node, block=False)}</span>')
    raise SkipNode


def _block(self, node):
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_markup(node, block=True))
    self.body.append("</div>\n")
    raise SkipNode


def setup(app):
    """Register the renderer as "mathml"."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
