"""Sphinx configuration of the manual. Nothing in it may ask the network."""

import re
import sys
from pathlib import Path

import domain_alignment

sys.path.insert(0, str(Path(__file__).parent))  # for mathml

project = "domain_alignment"
author = "The domain_alignment developers"
copyright = f"{author}; BSD-3-Clause"
release = domain_alignment.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
# sphinx-gallery writes its pages to examples/; what is generated is included in other pages
exclude_patterns = ["gallery", "generated"]
nitpicky = True
# Other projects' names; their inventories would have to be downloaded.
nitpick_ignore_regex = [("py:.*", r"(sklearn|scipy|numpy|skada|ot|pandas)(\..*)?")]

autodoc_typehints = "none"  # docstrings name the types
numpydoc_show_class_members = False  # autodoc lists them
autosummary_generate = False  # build.py writes the pages
autodoc_default_options = {"members": True, "inherited-members": "BaseEstimator"}

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "min_reported_time": 1e9,  # a page that is built twice is the same twice
    "show_memory": False,
    "remove_config_comments": True,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,  # its page asks a network for scripts
    "reset_modules": ("matplotlib",),
    "backreferences_dir": "api/uses",
    "doc_module": ("domain_alignment",),
    "inspect_global_variables": False,
}

html_theme = "furo"
html_title = "domain_alignment"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["manual.css"]


def skip_scikit_learns(app, what, name, member, skip, options):
    """Leave out what scikit-learn gives to every estimator: its texts name its own manual."""
    is_request = name.startswith("set_") and name.endswith("_request")
    return (
        True
        if is_request or (getattr(member, "__module__", None) or "").startswith("sklearn")
        else None
    )


def keep_underscores(app, what, name, found, options, lines):
    """Escape attributes in shapes, "(n_samples, n_components_)": reST would read a link."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(
            r"\([^()`]*\)", lambda shape: re.sub(r"(\w)_(?=[,) ])", r"\1\\_", shape[0]), line
        )


def setup(app):
    app.connect("autodoc-skip-member", skip_scikit_learns)
    app.connect("autodoc-process-docstring", keep_underscores, priority=100)  # before numpydoc
