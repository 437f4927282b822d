"""Experiments that are one computation, not tasks x methods."""


rule study:
    """Run a study under guard; if it fails, its file says how."""
    input:
        features=lambda w: [domain_file(ref, "features") for ref in study_domains(w)],
        labels=lambda w: [domain_file(ref, "labels") for ref in study_domains(w)],
        reads=study_reads,
    output:
        records="results/{experiment}/study.jsonl",
        arrays="results/{experiment}/study.npz",
    log:
        "logs/study/{experiment}.log",
    conda:
        "../../envs/core.yaml"
    # As for timings: a study of running times holds the machine.
    threads: lambda w: every_core(w) if asked_study(w)["alone"] else 1
    resources:
        **{name: if_alone(words) for name, words in HELD_ALONE.items()},
        alone=lambda w: int(asked_study(w)["alone"]),
        given_up=given_up,
        mem_mb=lambda w, attempt: study_limits(w)["memory_mb"] + attempt * ROOM_MB,
        runtime=lambda w, attempt: attempt * (study_limits(w)["seconds_per_trial"] // 60 + 10),
        seconds_per_trial=lambda w: study_limits(w)["seconds_per_trial"],
        memory_mb_per_trial=lambda w: study_limits(w)["memory_mb"],
        trials_lost_in_a_row=1,
    params:
        code=study_code,
        module=lambda w: asked_study(w)["module"],
        params=lambda w: asked_study(w)["params"],
        domains=lambda w: asked_study(w)["domains"],
    script:
        "../scripts/study.py"
