-- From `staged`, the tests that are new.
INSERT OR IGNORE INTO platforms SELECT DISTINCT platform FROM staged WHERE platform IS NOT NULL;

INSERT INTO tests BY NAME
    SELECT * EXCLUDE (assertions, log, started_at), started_at::TIMESTAMPTZ AT TIME ZONE 'UTC' AS started_at
    FROM staged;

INSERT INTO assertions SELECT test_id, unnest(assertions, recursive := true) FROM staged;

INSERT INTO artifacts SELECT test_id, 'log', log FROM staged WHERE log IS NOT NULL;
