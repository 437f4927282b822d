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
    localrule: not SHARED
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=each_attempt(4000),
        runtime=each_attempt(20),
    params:
        code=script_code("answer", "workflow.lib.report.own_page", "workflow.lib.results.own_view"),
        root=os.path.relpath(ROOT),
    script:
        "../scripts/answer.py"


rule model:
    """Fit what the answer says once more, and keep it for new samples of the target."""
    input:
        answer="results/{experiment}/answer.json",
        features=lambda w: task_features(answered_task(w)),
        labels=lambda w: task_labels(answered_task(w))[-1],
        trials=lambda w: f"results/{w.experiment}/{answered_task(w).task}/trials.npz",
    output:
        state="results/{experiment}/model/model.json",
        arrays="results/{experiment}/model/arrays.npz",
        sums="results/{experiment}/model/SHA256SUMS",
        card="results/{experiment}/model/MODEL_CARD.md",
    log:
        "logs/model/{experiment}.log",
    wildcard_constraints:
        experiment="|".join(ANSWERED) or "none",
    localrule: not SHARED
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=with_room(CONFIG["limits"]["memory_mb"]),
        runtime=each_attempt(CONFIG["limits"]["seconds_per_trial"] // 60 + 10),
        seconds_per_trial=CONFIG["limits"]["seconds_per_trial"],
        memory_mb_per_trial=CONFIG["limits"]["memory_mb"],
        trials_lost_in_a_row=1,
    params:
        code=model_code,
        root=os.path.relpath(ROOT),
    script:
        "../scripts/model.py"


rule log_model:
    """Bring MLflow up to date with the model of an answer; nothing twice."""
    input:
        state="results/{experiment}/model/model.json",
        arrays="results/{experiment}/model/arrays.npz",
        sums="results/{experiment}/model/SHA256SUMS",
        card="results/{experiment}/model/MODEL_CARD.md",
    output:
        "results/{experiment}/mlflow_model.json",
    log:
        "logs/log_model/{experiment}.log",
    wildcard_constraints:
        experiment="|".join(ANSWERED) or "none",
    localrule: True
    conda:
        "../../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
        mlflow=1,
    params:
        code=script_code("log_model", "workflow.lib.tracking.models"),
        root=os.path.relpath(ROOT),
        store=CONFIG["mlflow"],
    script:
        "../scripts/log_model.py"
