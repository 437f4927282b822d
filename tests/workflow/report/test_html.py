import re

import jinja2
import pytest

from workflow.lib.report.html import paragraphs, rendered, written


def test_a_page_has_style_and_script_and_asks_nothing_of_a_network():
    page = rendered("index.html.j2", title="<b>", papers={}, joint=[])
    assert "<title>&lt;b&gt;</title>" in page
    assert "default-src 'none'" in page
    assert page.count("<style>") == page.count("<script>") == 1
    assert not re.search(r"""(src|href)=["']https?:""", page)


def test_what_a_template_is_not_given_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        rendered("index.html.j2", title="")


def test_blank_lines_separate_paragraphs_and_the_rest_is_text():
    assert paragraphs("a <b>\nc\n\n \n\nd") == "<p>a &lt;b&gt;\nc</p><p>d</p>"
    assert paragraphs("") == ""


def test_a_page_is_written_whole(tmp_path):
    path = written("ä", tmp_path / "below/page.html")
    assert path.read_text("utf-8") == "ä"
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
