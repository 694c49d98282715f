-- From `staged`, the imports that are new.
INSERT INTO imports BY NAME
    SELECT import_id, file, format, size, imported_at::TIMESTAMPTZ AT TIME ZONE 'UTC' AS imported_at FROM staged;

INSERT INTO rejections SELECT import_id, unnest(rejected, recursive := true) FROM staged;
