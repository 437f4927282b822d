"""From public addresses to checked domains."""

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
    from workflow.lib.trials.loading import refusals  # SciPy: not before a run begins

    asked = {ref for name in names for ref in asked_domains(SimpleNamespace(experiment=name))}
    refs = [ref for ref in sorted(asked, key=str) if unread(ref)]
    domains = []
    for ref in refs:
        entry = dataset_entry(ref)
        files = {name: entry["files"][name] for name in files_of(entry, ref.domain)}
        if all("path" in file for file in files.values()):
            paths = {name: Path(os.path.expanduser(files[name]["path"])) for name in files}
            domains.append((ref.dataset, entry, ref.domain, paths))
    limits, scratch = Limits.of(SimpleNamespace(**LOAD_LIMITS)), Path(tempfile.gettempdir())
    wrong = refusals(domains, limits, scratch) if domains else []
    if wrong:
        raise WorkflowError("\n".join(["data that cannot be used; nothing was run:", *wrong]))


# A checkpoint, because it decides which tasks can run: for the others nothing is aligned.
checkpoint download:
    """Take a file from the first place that delivers the right sum; note it when none does."""
    input:
        marks_of,
    output:
        "resources/receipts/{dataset}/{file}.json",
    log:
        "logs/download/{dataset}/{file}.log",
    # Before everything else: what is unavailable is told in the first minute.
    priority: 100
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        code=code("workflow.lib.storage.fetch"),
        root=os.path.relpath(ROOT),
        # Not the addresses: another place for the same bytes reruns nothing.
        sha256=lambda w: SUITE.datasets[w.dataset]["files"][w.file].get("sha256"),
    script:
        "../scripts/download.py"


rule load:
    """Turn a dataset's files into one domain, checked against its entry; scale and fit nothing."""
    input:
        receipts=receipts_of,
        local=domain_local_files,
    output:
        features="resources/domains/{dataset}/{domain}.features.npz",
        labels="resources/domains/{dataset}/{domain}.labels.npz",
    log:
        "logs/load/{dataset}/{domain}.log",
    priority: 50
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        **LOAD_LIMITS,
        mem_mb=LOAD_LIMITS["memory_mb_per_trial"] + ROOM_MB,
        runtime=30,
    params:
        code=lambda w: code(loader_module(w), "workflow.loaders", "workflow.lib.storage.features"),
        own_sums=own_sums,
        entry=dataset_entry,
    script:
        "../scripts/load.py"
