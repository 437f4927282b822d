from workflow.lib.storage.fetch import obtain, write_receipt
from workflow.lib.storage.missing import missing, remedy

FILES = {
    "a.mat": {"sha256": "a" * 64, "mirror": "set/a.mat", "urls": []},
    "b.mat": {"sha256": "b" * 64, "urls": []},
    "c.mat": {"sha256": None, "why": "photographs"},
    "d.csv": {"path": "d.csv"},
}


def test_only_what_was_tried_in_vain_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").touch()
    paths = {name: tmp_path / f"set/{name}.json" for name in FILES}
    for name in ("a.mat", "d.csv"):
        write_receipt(paths[name], obtain(name, FILES[name], tmp_path / "raw"))
    paths["b.mat"].write_text("damaged")
    assert missing([*paths.values(), paths["a.mat"]]) == [paths["a.mat"]]


def test_the_remedy_names_files_sums_and_places(tmp_path):
    receipts = [tmp_path / f"set/{name}.json" for name in ("a.mat", "b.mat", "c.mat")]
    assert remedy(receipts, {"set": {"files": FILES}}).splitlines() == [
        "Data could not be downloaded. Put these files here:",
        "  resources/raw/set/a.mat",
        f"    sha256 {'a' * 64}",
        "    in a mirror: set/a.mat",
        "  resources/raw/set/b.mat",
        f"    sha256 {'b' * 64}",
        "or name a folder or an address that holds them: --config mirror=... or the environment "
        "variable ALIGNMENT_MIRROR. Then run the same again.",
        "Data that cannot be had:",
        "  set/c.mat: photographs",
    ]
    assert remedy([], {}) == ""
