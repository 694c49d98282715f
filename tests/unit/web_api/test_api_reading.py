"""Lists, single things, filters and errors of the API, asked of a real store."""

from __future__ import annotations

import gzip

import pytest
from fastapi.testclient import TestClient

PROBLEM = "application/problem+json"
LISTS = ("models", "platforms", "devices", "runs", "records", "series", "reports", "jobs", "alerts", "acknowledgements")
PLAN = ("models", "hardware", "performance", "compatibility", "tests", "web-platform")


@pytest.mark.parametrize("name", LISTS)
def test_every_list_answers(reading: TestClient, name: str) -> None:
    answer = reading.get(f"/api/v1/{name}")
    assert answer.status_code == 200, answer.text
    assert isinstance(answer.json()["items"], list)


@pytest.mark.parametrize("name", PLAN)
def test_the_paths_of_the_plan_answer(reading: TestClient, name: str) -> None:
    answer = reading.get(f"/api/{name}")
    assert answer.status_code == 200, answer.text
    assert isinstance(answer.json(), list)


def test_what_nobody_asked_for_is_not_in_a_list(reading: TestClient) -> None:
    rows = reading.get("/api/v1/records?limit=1000").json()["items"]
    assert {row["provenance"] for row in rows} == {"measured"}
    simulated = reading.get("/api/v1/records?limit=1000&provenance=simulated").json()["items"]
    assert simulated
    assert {row["provenance"] for row in simulated} == {"simulated"}


@pytest.mark.parametrize(
    ("query", "column", "values"),
    [
        ("model=tiny-bert", "model", {"tiny-bert"}),
        ("model=TINY-BERT,tiny-vit", "model", {"tiny-bert", "tiny-vit"}),
        ("model=tiny-bert&model=tiny-vit", "model", {"tiny-bert", "tiny-vit"}),
        ("status=failed", "status", {"failed"}),
        ("batch=2", "batch", {2}),
        ("device=Chip, 2 cores", "device", {"Chip, 2 cores"}),
        ("workload=training", "model", set()),
    ],
)
def test_filters_choose(reading: TestClient, query: str, column: str, values: set[object]) -> None:
    rows = reading.get(f"/api/v1/records?limit=1000&{query}").json()["items"]
    assert {row[column] for row in rows} == values


@pytest.mark.parametrize(
    "query",
    [
        "status=broken",
        "since=yesterday",
        "since=0001-01-01T00:00:00%2B23:59",
        "batch=two",
        f"batch={10**30}",
        "sort=size",
        "limit=0",
        "limit=1001",
        "cursor=nonsense",
        "cursor=WyItc3RhcnRlZF9hdCIsMSwyXQ",
        "cursor=%00",
        "platfrom=cpu",
        "model=" + "x" * 300,
        "model=x&" * 60,
    ],
)
def test_wrong_questions_are_problems(reading: TestClient, query: str) -> None:
    answer = reading.get(f"/api/v1/records?{query}")
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == PROBLEM
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    "path",
    ["records/x", "records/x/samples", "runs/x", "series/x", "devices/x", "models/no/such", "jobs/x", "reports/x"],
)
def test_what_is_not_there_is_told_so(reading: TestClient, path: str) -> None:
    answer = reading.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, PROBLEM)


def test_a_record_is_given_whole(reading: TestClient) -> None:
    row = reading.get("/api/v1/records?limit=1").json()["items"][0]
    whole = reading.get(f"/api/v1/records/{row['record_id']}").json()
    assert whole["series_id"] == row["series_id"]
    assert whole["started_at"] == row["started_at"]
    samples = reading.get(f"/api/v1/records/{row['record_id']}/samples").json()
    assert samples["samples"] == whole["samples"]
    assert whole["samples"][0]["host_ms"][1] is None  # was NaN


def test_a_series_tells_its_change(reading: TestClient) -> None:
    [found] = reading.get("/api/v1/series?model=tiny-opt").json()["items"]
    one = reading.get(f"/api/v1/series/{found['series_id']}").json()
    assert len(one["points"]) == found["results"] == 24
    assert one["alarm"]
    assert [change["verdict"] for change in one["changes"]] == ["worse"]
    assert one["level"]["value"] == pytest.approx(14.01)
    assert reading.get(f"/api/v1/series/{found['series_id']}?metric=speed").status_code == 400


def test_runs_and_models_count_their_results(reading: TestClient) -> None:
    runs = reading.get("/api/v1/runs").json()["items"]
    assert [run["results"] for run in runs] == [24, 40]
    assert reading.get(f"/api/v1/runs/{runs[0]['run_id']}").json() == runs[0]
    one = reading.get("/api/v1/models/tiny-opt").json()
    assert [on["platform"] for on in one["on"]] == ["cpu"]
    assert reading.get("/api/v1/models/someone/Else").json()["catalogue"] is False
    assert reading.get("/api/v1/models?family=vision").json()["items"]
    assert reading.get("/api/v1/models?family=fish").status_code == 400


def test_comparisons_by_a_question_and_of_two(reading: TestClient) -> None:
    found = reading.get("/api/v1/comparisons?by=batch").json()
    assert found["by"] == "batch"
    first, second = reading.get("/api/v1/records?model=tiny-opt&limit=2").json()["items"]
    two = reading.get(f"/api/v1/comparisons?old={first['record_id']}&new={second['record_id']}").json()
    assert len(two["comparisons"]) == 1
    runs = [run["run_id"] for run in reading.get("/api/v1/runs").json()["items"]]
    assert reading.get(f"/api/v1/comparisons?old={runs[0]}&new={runs[1]}").status_code == 200
    assert reading.get("/api/v1/comparisons").status_code == 400
    assert reading.get("/api/v1/comparisons?old=x").status_code == 400
    assert reading.get("/api/v1/comparisons?old=x&new=y").status_code == 404
    assert reading.get("/api/v1/comparisons?by=colour").status_code == 422


def test_compatibility_has_a_cell_for_each_pair(reading: TestClient) -> None:
    made = reading.get("/api/v1/compatibility").json()
    cells = {(cell["model"], cell["platform"]): cell["status"] for cell in made["cells"]}
    assert cells["tiny-opt", "cpu"] == "ok"
    assert set(made["models"]) == {model for model, _ in cells}


def test_an_answer_that_is_known_is_not_sent_again(reading: TestClient) -> None:
    first = reading.get("/api/v1/records")
    again = reading.get("/api/v1/records", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = reading.get("/api/v1/records?limit=3", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


def test_answers_are_packed_for_who_can_unpack(reading: TestClient) -> None:
    with reading.stream("GET", "/api/v1/records", headers={"Accept-Encoding": "gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
    plain = reading.get("/api/v1/records", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(packed) == plain.content


@pytest.mark.parametrize("format", ["html", "md", "json", "csv"])
def test_reports_are_made(reading: TestClient, format: str) -> None:
    answer = reading.get(f"/api/v1/reports/summary?format={format}")
    assert answer.status_code == 200, answer.text
    assert len(answer.content) > 500
    assert answer.headers["content-disposition"].startswith("attachment")


def test_reports_read_no_files_of_the_server(reading: TestClient) -> None:
    assert reading.get("/api/v1/reports/..%2f..%2fx.yaml").status_code == 404
    assert reading.get("/api/v1/reports/model?subject=no-such").status_code == 400
    assert reading.get("/api/v1/reports/model").status_code == 400


def test_predictions_are_not_learned_in_a_request(reading: TestClient) -> None:
    answer = reading.get("/api/v1/predictions?model=tiny-bert")
    assert answer.status_code == 409
    assert "dyno predict train" in answer.json()["detail"]


@pytest.mark.parametrize("model", ["/etc/passwd", "../x", "tests", "pyproject.toml"])
def test_models_are_names_and_no_files(reading: TestClient, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("predictions", "recommendations", "generate/test"):
        answer = reading.get(f"/api/v1/{path}", params={"model": model} | ({"on": "cpu"} if "/" in path else {}))
        assert answer.status_code in (400, 422), answer.text


def test_recommendations_say_what_they_rest_on(reading: TestClient) -> None:
    advice = reading.get("/api/v1/recommendations?model=tiny-opt").json()
    assert advice["predicted"] is False
    assert advice["choice"]["platform"] == "cpu"
    assert reading.get("/api/v1/recommendations?model=tiny-opt&slo=soon").status_code == 400


def test_files_are_generated(reading: TestClient) -> None:
    made = reading.get("/api/v1/generate/test?model=tiny-bert&on=cpu").json()
    assert "def test" in made["text"]
    file = reading.get("/api/v1/generate/suite?model=tiny-bert&on=cpu&download=true")
    assert file.headers["content-type"].startswith("text/plain")
    assert reading.get("/api/v1/generate/test?model=tiny-bert&on=toaster").status_code == 400


def test_health_and_metrics(reading: TestClient) -> None:
    health = reading.get("/healthz").json()
    assert (health["status"], health["results"]) == ("ok", 64)
    text = reading.get("/metrics").text
    assert "dyno_results 64\n" in text
    assert 'dyno_requests_total{method="GET",route="/healthz",status="200"}' in text
