"""From public addresses to checked domains."""


# A checkpoint, because it decides which tasks can run: for the others nothing is aligned.
checkpoint download:
    """Take a file from the first place that delivers the right sum; note it when none does."""
    input:
        marks_of,
    output:
        local("resources/receipts/{dataset}/{file}.json"),
    log:
        "logs/download/{dataset}/{file}.log",
    # Before all else that is ready: what is unavailable is told in the first minute.
    priority: 100
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        code=script_code("download", "workflow.lib.storage.fetch"),
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
    localrule: not SHARED
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        **LOAD_LIMITS,
        mem_mb=with_room(LOAD_LIMITS["memory_mb_per_trial"]),
        runtime=each_attempt(30),
    params:
        code=load_code,
        own_sums=own_sums,
        entry=dataset_entry,
    script:
        "../scripts/load.py"
