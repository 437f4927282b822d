"""A page from a template of ``reports/``: one self-contained file."""

import base64
import hashlib
import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from workflow.lib.config.addresses import PROJECT
from workflow.lib.results.text import count
from workflow.lib.storage.artifacts import atomic_write

TEMPLATES = PROJECT / "reports"


def written(source: str, out: Path | str) -> Path:
    """Write a page whole or not at all; return its path."""
    with atomic_write(Path(out)) as temporary:
        temporary.write_text(source, encoding="utf-8")
    return Path(out)


def rendered(template: str, **shown) -> str:
    """The HTML source of a template, with the style and the script of every page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["paragraphs"] = paragraphs
    script = (TEMPLATES / "tables.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template(template).render(
        **shown,
        style=Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_sum=digest,
        count=count,
    )


def paragraphs(text: str) -> Markup:
    """Blank lines separate paragraphs; everything else is plain text."""
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text or "") if block.strip()]
    return Markup("").join(Markup("<p>{}</p>").format(block) for block in blocks)
