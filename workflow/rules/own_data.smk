"""The user's own files, read before any job starts."""

import tempfile

# Parsers of foreign files run in a guarded child, with these limits.
LOAD_LIMITS = {"seconds_per_trial": 1500, "memory_mb_per_trial": 3700, "trials_lost_in_a_row": 1}


def unread(w):
    """Whether a domain is made of the user's own files and was not loaded since they changed."""
    local, loaded = domain_local_files(w), Path(domain_file(w, "labels"))
    if not local or not all(os.path.isfile(path) for path in local):
        return False
    newest = max(os.path.getmtime(path) for path in local)
    return not loaded.is_file() or loaded.stat().st_mtime < newest


def check_own_data(names):
    """Read the user's own files before any job starts; end with all that is wrong with them."""
    from workflow.lib.execution.guard import Limits
    from workflow.lib.storage.fetch import own_file
    from workflow.lib.trials.loading import refusals  # SciPy: not before a run begins

    asked = {ref for name in names for ref in asked_domains(SimpleNamespace(experiment=name))}
    refs = [ref for ref in sorted(asked, key=str) if unread(ref)]
    domains, wrong = [], []
    for ref in refs:
        entry = dataset_entry(ref)
        files = {name: entry["files"][name] for name in files_of(entry, ref.domain)}
        for name, file in files.items():
            try:
                "path" in file and own_file(name, file)
            except ValueError as error:
                wrong.append(f"{ref}: {error}")
        if all("path" in file for file in files.values()):
            paths = {name: Path(os.path.expanduser(files[name]["path"])) for name in files}
            domains.append((ref.dataset, entry, ref.domain, paths))
    limits, scratch = Limits.of(SimpleNamespace(**LOAD_LIMITS)), Path(tempfile.gettempdir())
    wrong += refusals(domains, limits, scratch) if domains and not wrong else []
    if wrong:
        raise WorkflowError("\n".join(["data that cannot be used; nothing was run:", *wrong]))
