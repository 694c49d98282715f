"""A question may read the store and nothing else."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from modeldyno.core.errors import DynoError, InputError, JobError
from modeldyno.core.types import Case, Host, MetricValue, ModelInfo, Record, Run, Status
from modeldyno.store.ask import ask
from modeldyno.store.store import Store

PLAN = """
# Query the database
python test/scripts/benchmark_db_query.py --sql "SELECT model_name, hardware_type, AVG(throughput_items_per_second) \
FROM performance_results JOIN models USING(model_id) JOIN hardware_platforms USING(hardware_id) \
GROUP BY model_name, hardware_type"
python test/scripts/benchmark_db_query.py --sql "SELECT * FROM performance_results" --format csv --output data.csv

```sql
CREATE TABLE benchmark_runs (
    id TEXT PRIMARY KEY,
    timestamp TIMESTAMP,
    model_id TEXT,
    device TEXT,
    architecture_type TEXT,
    parameter_count INTEGER,
    description TEXT
);

CREATE TABLE benchmark_results (
    run_id TEXT REFERENCES benchmark_runs(id),
    batch_size INTEGER,
    sequence_length INTEGER,
    precision TEXT,
    latency_ms FLOAT,
    throughput_samples_per_sec FLOAT,
    memory_usage_mb FLOAT,
    -- Additional metrics
    first_token_latency_ms FLOAT,
    peak_memory_mb FLOAT,
    -- Hardware-specific metrics stored as JSON
    device_metrics JSON
);
```
--report hardware_compatibility
--report web_platform_results
"""
"""Commands and tables in the shape in which the plan has them."""


def planned_questions() -> list[str]:
    questions = re.findall(r'--sql "(SELECT [^"]+)"', PLAN)
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", PLAN, re.DOTALL):
        columns = re.findall(r"^    (\w+) ", body, re.MULTILINE)
        questions.append(f"SELECT {', '.join(columns)} FROM {table}")
    return questions + [f"SELECT * FROM {view}" for view in re.findall(r"--report (\w+)", PLAN)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One measured record on a CPU, one of a browser; beside it what a question might want to look at."""
    folder = tmp_path_factory.mktemp("ask")
    (folder / "secret.csv").write_text("a,b\n1,2\n")
    made, other = Store(folder / "it's a store.duckdb"), Store(folder / "other.duckdb")
    other.add([Run(host=Host(host_id="o"), command="c", version="0")])
    run = Run(host=Host(host_id="h"), command="dyno run", version="0")
    model = ModelInfo(name="m", weights="random", source="catalogue", fingerprint="f")
    metrics = {"latency_ms": MetricValue(value=2.0), "throughput_per_s": MetricValue(value=500.0)}
    made.add(
        [
            run,
            *(
                Record(
                    run_id=run.run_id,
                    case=Case(model="m", platform=platform, runtime="r"),
                    status=Status.OK,
                    model=model,
                    metrics=metrics,
                )
                for platform in ("cpu", "webgpu")
            ),
        ]
    )
    return made


def answer(store: Store, sql: str, timeout_s: float = 60.0) -> list[dict[str, Any]]:
    with ask(store.existing(), sql, timeout_s) as found:
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


@pytest.mark.parametrize("sql", planned_questions())
def test_the_plans_sql_runs(store: Store, sql: str) -> None:
    assert answer(store, sql)


def test_the_plans_sql_is_found_in_its_text() -> None:
    assert len(planned_questions()) == 6


def test_the_plans_average_is_right(store: Store) -> None:
    rows = answer(store, planned_questions()[0])
    assert {(row["model_name"], row["hardware_type"]) for row in rows} == {("m", "cpu"), ("m", "webgpu")}
    assert {value for row in rows for value in row.values() if isinstance(value, float)} == {500.0}


READING = [
    "SELECT 1 -- with a remark",
    "SELECT 1;",
    "FROM records",
    "VALUES (1), (2)",
    "WITH a AS (SELECT 1 AS one) SELECT one FROM a",
    "DESCRIBE results",
    "SHOW TABLES",
    "SUMMARIZE platforms",
    "EXPLAIN SELECT * FROM results",
    "PIVOT (SELECT model, status FROM results) ON status IN ('ok', 'failed') USING count(*)",
    "SELECT * FROM query('SELECT 1')",
    "SELECT latency_ms.value FROM records",
    "SELECT now() AS moment, 1 AS one ORDER BY one;  -- a moment with a zone",
]


@pytest.mark.parametrize("sql", READING)
def test_every_way_of_reading_is_allowed(store: Store, sql: str) -> None:
    assert answer(store, sql)


def test_columns_of_one_name_are_told_apart(store: Store) -> None:
    sql = "SELECT 1 AS a, 2 AS A, 3 AS a_2, now() AS t, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS t"
    with ask(store.path, sql) as found:
        (row,) = found.rows
    assert found.columns == ("a", "A_2", "a_2_2", "t", "t_2")
    assert row[:3] == (1, 2, 3)
    assert all(isinstance(moment, str) for moment in row[3:])


WRITING = [
    "INSERT INTO platforms VALUES ('x')",
    "UPDATE records SET status = 'ok'",
    "DELETE FROM samples",
    "TRUNCATE samples",
    "MERGE INTO platforms USING (SELECT 1) ON true WHEN MATCHED THEN DELETE",
    "CREATE TABLE t (i INTEGER)",
    "CREATE TEMP TABLE t (i INTEGER)",
    "CREATE OR REPLACE VIEW results AS SELECT 1",
    "CREATE MACRO f() AS 1",
    "DROP VIEW results",
    "DROP TABLE records CASCADE",
    "ALTER TABLE platforms ADD COLUMN x INTEGER",
    "COMMENT ON TABLE platforms IS 'x'",
    "WITH x AS (INSERT INTO platforms VALUES ('y') RETURNING *) SELECT * FROM x",
    "EXPLAIN ANALYZE INSERT INTO platforms VALUES ('x')",
    "EXPLAIN ANALYZE DELETE FROM samples",
    "SELECT * FROM query('DROP TABLE records')",
    "SELECT * FROM force_checkpoint()",
    "CHECKPOINT",
    "VACUUM",
    "BEGIN",
    "SELECT 1; DROP TABLE records",
    "DROP TABLE records; SELECT 1",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "SET memory_limit = '100GB'",
    "RESET memory_limit",
    "SET enable_external_access = true",
    "SET VARIABLE a = 1",
    "USE memory",
    "DETACH store",
    "SELECT * FROM enable_logging()",
    "SELECT * FROM enable_profiling()",
    "UPDATE EXTENSIONS",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE SECRET s (TYPE S3)",
    "",
    "-- nothing",
    "DROP",
]
FILES = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_csv_auto('{file}')",
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT content FROM read_text('{file}')",
    "SELECT content FROM read_blob('{file}')",
    "SELECT filename FROM read_blob('{store}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_json_objects('/proc/self/environ')",
    "SELECT * FROM read_ndjson('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM read_duckdb('{other}')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT getenv('HOME')",
    "SELECT * FROM read_text('https://example.org/')",
    "SELECT * FROM 'https://example.org/x.parquet'",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "SELECT (SELECT content FROM read_text('{file}')) FROM records",
    "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''{file}'')'))",
    "COPY records TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "COPY platforms FROM '{file}'",
    "EXPLAIN COPY records TO '{folder}/out.csv'",
    "EXPLAIN ANALYZE COPY records TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "IMPORT DATABASE '{folder}/out'",
    "ATTACH '{other}' AS other",
    "ATTACH '{folder}/new.duckdb'",
    "SELECT * FROM enable_logging(storage = 'file', storage_path = '{folder}/logs')",
    "SELECT * FROM secret",
    "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM arrow_scan(1, 1, 1)",
]


@pytest.mark.parametrize("sql", WRITING)
def test_nothing_can_be_changed(store: Store, sql: str) -> None:
    with pytest.raises(InputError) as refused:
        answer(store, sql)
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert ";" in sentence
    assert len(answer(store, "SELECT * FROM records")) == 2


@pytest.mark.parametrize("sql", FILES)
def test_no_file_no_network_no_environment_no_python(store: Store, sql: str) -> None:
    secret = [{"secret": 1}]
    assert secret
    folder = store.path.parent
    before = sorted(folder.iterdir())
    places = {"file": folder / "secret.csv", "other": folder / "other.duckdb", "folder": folder}
    with pytest.raises(InputError):
        answer(store, sql.format(**places, store=str(store.path).replace("'", "''")))
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("DROP TABLE records", "Only reading is allowed, and this is a statement of type DROP; write a SELECT."),
        ("SELECT 1; SELECT 2", "One statement can be asked at a time, but this is 2 statements; write one SELECT."),
        ("", "One statement can be asked at a time, but this is none; write one SELECT."),
        ("SELECT * FROM recordz", 'Catalog Error: Table with name recordz does not exist; Did you mean "records"?'),
        ("SELEC 1", 'Parser Error: syntax error at or near "SELEC"; see docs/schema.md for what there is.'),
        (
            "SELECT * FROM read_text('/etc/passwd')",
            "Only the store can be read, no file and no network; bring files in with: dyno db import",
        ),
    ],
)
def test_a_refusal_is_one_sentence_that_helps(store: Store, sql: str, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        answer(store, sql)
    assert str(refused.value) == sentence


def test_a_missing_column_names_the_candidates(store: Store) -> None:
    with pytest.raises(InputError, match=r'"latenzy_ms" not found.*; Candidate bindings: .*latency_ms'):
        answer(store, "SELECT latenzy_ms FROM results")


def test_a_question_that_never_ends_is_ended(store: Store) -> None:
    endless = "SELECT count(*) FROM range(1000000000000) a(x) WHERE x % 7 = 3"
    with pytest.raises(JobError, match=r"longer than 0\.2 s"):
        answer(store, endless, timeout_s=0.2)


def test_fetching_is_under_the_time_limit_too(store: Store) -> None:
    with pytest.raises(JobError, match="longer than"), ask(store.path, "FROM range(1000000000000)", 0.3) as found:
        for _ in found.rows:
            pass


def test_a_question_that_needs_all_memory_is_refused(store: Store) -> None:
    greedy = "SELECT list(x ORDER BY hash(x)) FROM (SELECT repeat('x', 1000) || i AS x FROM range(20000000) t(i))"
    with pytest.raises(JobError, match=r"more memory than 2GB|longer than"):
        answer(store, greedy, timeout_s=30)


def test_questions_and_readers_of_one_process_do_not_lock_each_other_out(store: Store) -> None:
    """The locks belong to the question, not to the process."""
    problems: list[DynoError] = []

    def work() -> None:
        try:
            for _ in range(5):
                answer(store, "SELECT count(*) FROM results")
                store.runs()
        except DynoError as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    store.add([Run(host=Host(host_id="h"), command="after", version="0")])
    assert answer(store, "SELECT count(*) AS n FROM runs WHERE command = 'after'") == [{"n": 1}]
