"""How the pages of this folder become a site, with `sphinx-build -W docs docs/_build`. Nothing is fetched for it."""

from __future__ import annotations

import importlib.metadata

project = "flask_arandu_mcp"
release = importlib.metadata.version("flask-arandu-mcp")
html_title = f"{project} {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
default_role = "code"  # what stands between single backticks in a docstring
autodoc_member_order = "bysource"
add_module_names = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 2
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False

nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!flask_arandu_mcp\.)\w+\..*"),  # what other projects document
    ("py:exc", "Forbidden"),  # werkzeug's
    # The types of signatures that are not on the page of the API.
    ("py:class", r"flask_arandu_mcp(\.\w+)+"),
    ("py:class", r"Access|ArgumentsDeclaration|ResultDeclaration|More|P|dict\[str"),
]
