"""What pages of measurements share: sections of several runs, and which machine measured."""

import time
from collections import Counter
from functools import cache


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
    text = page.read_text(encoding="utf-8") if page.exists() else head
    before, *sections = text.split("\n## ")
    kept = [section for section in sections if section.partition("\n")[0] != title]
    made = f"On {today()}. {lines[0]}"
    section = "\n".join([title, "", made, *lines[1:], ""])
    page.write_text("\n## ".join([before, *sorted([*kept, section])]), encoding="utf-8")


def told_searched(names, methods):
    """Entries whose settings were found by searching, on a page of what they cost."""
    found = sorted({name for name in names if methods.get(name, {}).get("found_by_search")})
    if not found:
        return ""
    return (
        "Settings of these entries were found by searching against printed or scored numbers, "
        f"which config/methods.yaml tells; only what they cost stands here: {', '.join(found)}."
    )


def today():
    """Machine, day and code of what is measured now, for the page that is written with it."""
    from workflow.lib.results.environment import describe

    machine, day = describe(), time.strftime("%Y-%m-%d", time.gmtime())
    commit = machine["git"]["commit"]
    code = f", commit {commit[:10]}" if commit else ""
    return f"{machine['cpu']} ({machine['cores']} cores), {day}{code}"


@cache
def this_machine():
    """What a point is kept with, so that a page that is made elsewhere names what measured it."""
    from workflow.lib.results.environment import describe

    machine = describe()
    versions = ", ".join(f"{name} {machine['packages'][name]}" for name in ("numpy", "scipy"))
    size = f"{machine['cores']} cores, {machine['memory_gb']} GB"
    return f"{machine['cpu']} ({size}; {versions})"


def told_machines(rows):
    """Which machines measured the points, each with its share where there are several."""
    found = Counter(row.get("machine") or "a machine that was not noted" for row in rows)
    if len(found) == 1:
        return next(iter(found))
    return " and ".join(f"{place} ({n:,} points)" for place, n in found.most_common())
