"""From records to MLflow."""


rule track:
    """Bring MLflow up to date with an experiment; one job at a time, keyed, nothing twice."""
    input:
        results=lambda w: result_files(w.experiment),
        features=lambda w: [domain_file(ref, "features") for ref in asked_domains(w)],
        labels=lambda w: [domain_file(ref, "labels") for ref in asked_domains(w)],
        artifacts=lambda w: [
            f"results/{w.experiment}/report.html",
            *([] if asked_study(w) else [f"results/{w.experiment}/records.csv"]),
            *tables_of(w.experiment),
            *figures_of(w.experiment, "svg"),
        ],
        page=page_files("runs.html.j2"),
    output:
        receipt="results/{experiment}/mlflow.json",
        page="results/{experiment}/mlflow.html",
    log:
        "logs/track/{experiment}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
        mlflow=1,
    params:
        code=script_code(
            "track",
            "workflow.lib.tracking.runs",
            "workflow.lib.results.computed",
            "workflow.lib.results.records",
            "workflow.lib.report.runs_page",
        ),
        root=os.path.relpath(ROOT),
        store=CONFIG["mlflow"],
        domains=lambda w: [str(ref) for ref in asked_domains(w)],
        method_code=lambda w: {
            name: method_code(w.experiment, name)
            for name in SUITE.experiments[w.experiment].methods
        },
    script:
        "../scripts/track.py"
