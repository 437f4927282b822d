"""From predictions and what was kept beside them to an answer on data of one's own."""


rule answer:
    """Whether to adapt, with what, and how accurate it will be; hidden labels only check it."""
    input:
        aligned=lambda w: of_methods("align.jsonl")(answered_task(w)),
        predictions=lambda w: of_methods("predictions.npz")(answered_task(w)),
        features=lambda w: task_features(answered_task(w)),
        labels=lambda w: task_labels(answered_task(w))[-1],
        trials=lambda w: f"results/{w.experiment}/{answered_task(w).task}/trials.npz",
        configuration=lambda w: config_files_of(w.experiment),
        page=page_files("answer.html.j2"),
    output:
        page="results/{experiment}/answer.html",
        answer="results/{experiment}/answer.json",
        predictions="results/{experiment}/predictions.csv",
        to_label="results/{experiment}/to_label.csv",
    log:
        "logs/answer/{experiment}.log",
    wildcard_constraints:
        experiment="|".join(ANSWERED) or "none",
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        code=code("workflow.lib.report.own_page", "workflow.lib.results.own_view"),
        root=os.path.relpath(ROOT),
    script:
        "../scripts/answer.py"
