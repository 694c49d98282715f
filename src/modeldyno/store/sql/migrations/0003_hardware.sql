-- What a step moves and starts, and how fast: the metrics of the hardware workload.

ALTER TABLE records ADD COLUMN moved_gb metric;
ALTER TABLE records ADD COLUMN bandwidth_gb_per_s metric;
ALTER TABLE records ADD COLUMN launches metric;
ALTER TABLE records ADD COLUMN launch_us metric;
