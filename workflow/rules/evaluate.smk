"""From predictions to records."""


rule evaluate:
    """Score predictions against held-out labels; without data, a record for each that says so."""
    input:
        aligned=of_methods("align.jsonl"),
        predictions=of_methods("predictions.npz"),
        trials="results/{experiment}/{task}/trials.npz",
        labels=lambda w: domain_file(asked_task(w).target, "labels"),
    output:
        "results/{experiment}/{task}/records.jsonl",
    log:
        "logs/evaluate/{experiment}/{task}.log",
    localrule: not SHARED
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=each_attempt(2000),
        runtime=each_attempt(10),
    params:
        code=evaluate_code,
        coordinates=task_coordinates,
        methods=lambda w: SUITE.experiments[w.experiment].methods,
        classifiers=lambda w: SUITE.experiments[w.experiment].recorded,
        tuned=lambda w: SUITE.experiments[w.experiment].tuning is not None,
        n_trials=lambda w: SUITE.n_trials(w.experiment),
        settings=lambda w: list(SUITE.experiments[w.experiment].settings),
    script:
        "../scripts/evaluate.py"
