"""From the records of tasks to the tables of an experiment."""


rule collect:
    """Gather the records of an experiment; every cell that was asked for must have one."""
    input:
        records=lambda w: [
            f"results/{w.experiment}/{task.name}/records.jsonl"
            for task in SUITE.experiments[w.experiment].tasks
        ],
    output:
        csv="results/{experiment}/records.csv",
        parquet="results/{experiment}/records.parquet",
        summary="results/{experiment}/summary.csv",
        sums="results/{experiment}/SHA256SUMS",
    log:
        "logs/collect/{experiment}.log",
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=code("workflow.lib.results.records"),
        root=os.path.relpath(ROOT),
        methods=lambda w: SUITE.experiments[w.experiment].methods,
        classifiers=lambda w: SUITE.experiments[w.experiment].classifiers,
    script:
        "../scripts/collect.py"
