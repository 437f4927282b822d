"""Pages of reference results that several runs write, a section each."""

import time


def put_section(page, head, title, lines):
    """Put a section in place of an earlier one of its title; it begins with machine and day.

    Parameters
    ----------
    page : Path
    head : str
        What a new page begins with.
    title : str
    lines : list of str
    """
    from workflow.lib.results.environment import describe

    text = page.read_text(encoding="utf-8") if page.exists() else head
    before, *sections = text.split("\n## ")
    kept = [section for section in sections if section.partition("\n")[0] != title]
    machine, day = describe(), time.strftime("%Y-%m-%d", time.gmtime())
    made = f"On {machine['cpu']} ({machine['cores']} cores), {day}. {lines[0]}"
    section = "\n".join([title, "", made, *lines[1:], ""])
    page.write_text("\n## ".join([before, *sorted([*kept, section])]), encoding="utf-8")
