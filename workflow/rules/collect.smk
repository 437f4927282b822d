"""From the records of tasks to the tables of an experiment."""


rule collect:
    """Gather the records of an experiment; every cell that was asked for must have one."""
    input:
        records=lambda w: [
            f"results/{w.experiment}/{task.name}/records.jsonl"
            for task in SUITE.experiments[w.experiment].tasks
        ],
    output:
        csv=report(
            "results/{experiment}/records.csv",
            caption="../../reports/captions/records.rst",
            category=lambda w: SUITE.experiments[w.experiment].title,
            labels={"table": "records"},
        ),
        parquet="results/{experiment}/records.parquet",
        summary=report(
            "results/{experiment}/summary.csv",
            caption="../../reports/captions/summary.rst",
            category=lambda w: SUITE.experiments[w.experiment].title,
            labels={"table": "summary"},
        ),
        sums="results/{experiment}/SHA256SUMS",
    log:
        "logs/collect/{experiment}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=script_code("collect", "workflow.lib.results.records"),
        root=os.path.relpath(ROOT),
        methods=lambda w: SUITE.experiments[w.experiment].methods,
        classifiers=lambda w: SUITE.experiments[w.experiment].recorded,
    script:
        "../scripts/collect.py"
